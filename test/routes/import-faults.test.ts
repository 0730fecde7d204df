import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { buildTestApp, get, skillMd, type TestApp } from '../build-app.ts'
import { makeTgz, paxRecords, type TarEntry } from '../registry/archives/make-tgz.ts'
import { makeZip, type ZipEntry } from '../registry/archives/make-zip.ts'
import { assertProblem, namesOf, send } from '../requests.ts'
import { formType, makeForm } from '../upload.ts'

const ZIP = { 'content-type': 'application/zip' }
const TGZ = { 'content-type': 'application/gzip' }
const LINES = { accept: 'application/x-ndjson' }

interface Upload {
  payload: Buffer
  headers: Record<string, string>
}

const skill = (name: string) => ({ name: `all/${name}/SKILL.md`, data: skillMd(name) })

/** Three skills of two files, with a faulty entry among those of the second. */
const zipAround = (...bad: ZipEntry[]): Upload => ({
  headers: ZIP,
  payload: makeZip([
    ...[skill('a'), { name: 'all/a/x', data: 'a' }, { name: 'all/b/x', data: 'b' }],
    ...[...bad, skill('b'), { name: 'all/c/x', data: 'c' }, skill('c')],
  ]),
})
const tgzAround = (...bad: TarEntry[]): Upload => ({
  headers: TGZ,
  payload: makeTgz([
    ...[skill('a'), { name: 'all/a/x', data: 'a' }, { name: 'all/b/x', data: 'b' }],
    ...[...bad, skill('b'), { name: 'all/c/x', data: 'c' }, skill('c')],
  ]),
})
const pax = (path: string): TarEntry => ({ name: 'Pax', type: 'x', data: paxRecords({ path }) })

const PATH = 'all/b/bad'
const notUtf8 = Buffer.concat([Buffer.from('all/b/'), Buffer.of(0xff)])
const zeros = { name: PATH, data: Buffer.alloc(1 << 20), deflate: true }
const faults: [what: string, code: string, file: string, Upload][] = [
  ['CRC', 'archive_corrupt', PATH, zipAround({ name: PATH, data: 'x', crc: 1 })],
  ['size', 'archive_corrupt', PATH, zipAround({ name: PATH, data: 'x', size: 9, deflate: true })],
  ['stored size', 'archive_corrupt', PATH, zipAround({ name: PATH, data: 'x', size: 9 })],
  ['more', 'archive_corrupt', PATH, zipAround({ name: PATH, data: 'xxx', size: 1, deflate: true })],
  ['method', 'archive_corrupt', PATH, zipAround({ name: PATH, data: 'x', method: 99 })],
  ['no deflate', 'archive_corrupt', PATH, zipAround({ name: PATH, data: '\xff', method: 8 })],
  ['ratio', 'archive_too_large', PATH, zipAround(zeros)],
  ['4 GiB', 'archive_too_large', PATH, zipAround({ name: PATH, data: 'x', size: 0xffffffff - 1 })],
  ['encrypted', 'archive_encrypted', PATH, zipAround({ name: PATH, data: 'x', flags: 0x801 })],
  ['link', 'archive_link', PATH, zipAround({ name: PATH, data: '/etc', mode: 0o120777 })],
  ['not UTF-8', 'archive_path', 'all/b/\ufffd', zipAround({ name: notUtf8 })],
  ['..', 'archive_path', '../../x', zipAround({ name: 'all/b/../../x' })],
  ['folder ..', 'archive_path', 'all/b/../../x/', zipAround({ name: 'all/b/../../x/' })],
  ['NUL', 'archive_path', 'x\\u0000', zipAround({ name: 'all/b/x\0' })],
  ['tar link', 'archive_link', PATH, tgzAround({ name: PATH, type: '2', link: '/etc' })],
  ['tar device', 'archive_link', PATH, tgzAround({ name: PATH, type: '3' })],
  ['tar not UTF-8', 'archive_path', 'all/b/\ufffd', tgzAround({ name: notUtf8 })],
  ['tar ..', 'archive_path', '../../x', tgzAround(pax('all/b/../../x'), { name: 'x' })],
  ['tar folder', 'archive_path', 'all/b/../x/', tgzAround({ name: 'all/b/../x/', type: '5' })],
]

interface Result {
  path: string
  status: string
  errors: { code: string; file?: string }[]
}

async function importAs(app: TestApp, way: 'JSON' | 'lines', { payload, headers }: Upload) {
  const accept = way === 'lines' ? LINES : {}
  const all = { payload, headers: { ...headers, ...accept } }
  const response = await send(app, 'POST', '/skills/import', all)
  assert.equal(response.statusCode, 200, response.body)
  if (way === 'JSON') return response.json()
  const lines = response.body.trimEnd().split('\n')
  const [counts, ...results] = lines.map((line) => JSON.parse(line)).toReversed()
  return { ...counts, results: results.toReversed() }
}

for (const way of ['JSON', 'lines'] as const) {
  for (const [what, code, file, upload] of faults) {
    test(`as ${way}: a faulty entry fails its skill and no other (${what})`, async (t) => {
      const app = await buildTestApp(t)
      const { results, created, failed, skipped } = await importAs(app, way, upload)
      assert.deepEqual(
        results.map(({ path, status }: Result) => [path, status]),
        [
          ['all/a/SKILL.md', 'created'],
          ['all/b/SKILL.md', 'failed'],
          ['all/c/SKILL.md', 'created'],
        ],
      )
      const [error, ...more] = results[1].errors
      assert.deepEqual([error.code, error.file, more], [code, file, []])
      assert.deepEqual([created, failed, skipped], [2, 1, []])
      assert.deepEqual(namesOf(await get(app, '/skills')), ['a', 'c'])
    })
  }
}

test('every faulty entry of a skill is told, and a dry run foresees it', async (t) => {
  const app = await buildTestApp(t)
  const upload = zipAround(
    { name: 'all/b/one', data: 'x', crc: 1 },
    { name: 'all/b/two', data: 'x', flags: 0x801 },
  )
  const response = await send(app, 'POST', '/skills/import?dry_run=true', upload)
  const { results, created } = response.json()
  const told = results[1].errors.map(({ code, file }: Result['errors'][number]) => [code, file])
  assert.deepEqual(told, [
    ['archive_corrupt', 'all/b/one'],
    ['archive_encrypted', 'all/b/two'],
  ])
  assert.equal(created, 2)
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('a SKILL.md that is damaged, or a link, fails its skill', async (t) => {
  for (const fault of [{ crc: 1 }, { mode: 0o120777 }, { flags: 0x801 }]) {
    const app = await buildTestApp(t)
    const payload = makeZip([skill('a'), { ...skill('b'), ...fault }, skill('c')])
    const { results } = await importAs(app, 'JSON', { payload, headers: ZIP })
    const told = results.map(({ path, status }: Result) => [path, status])
    assert.deepEqual(told[1], ['all/b/SKILL.md', 'failed'])
    assert.deepEqual(namesOf(await get(app, '/skills')), ['a', 'c'])
  }
})

test('faulty entries that belong to no skill are skipped like others, and told', async (t) => {
  const app = await buildTestApp(t)
  const link = { name: 'CLAUDE.md', data: 'AGENTS.md', mode: 0o120777 }
  const noise = { name: 'all/b/.DS_Store', data: 'x', crc: 1 }
  const readme = { name: 'README.md', data: 'x', flags: 0x801 }
  const { created, skipped } = await importAs(app, 'JSON', zipAround(link, noise, readme))
  assert.equal(created, 3)
  assert.deepEqual(skipped, ['CLAUDE.md', 'all/b/.DS_Store', 'README.md'])
})

test('a part of a form that leads elsewhere fails the skill that it begins in', async (t) => {
  const app = await buildTestApp(t)
  const parts = [skill('a'), skill('b'), { name: 'all/b/../../x', data: 'x' }, skill('c')]
  const payload = makeForm(parts.map(({ name, data }) => ({ fileName: name, data })))
  const { results } = await importAs(app, 'JSON', { payload, headers: formType })
  assert.equal(results[1].errors[0].code, 'archive_path')
  assert.deepEqual(namesOf(await get(app, '/skills')), ['a', 'c'])
})

test('what is too much only as a whole is refused whole', async (t) => {
  const app = await buildTestApp(t)
  const bomb = { data: Buffer.concat([randomBytes(200), Buffer.alloc(15_000)]), deflate: true }
  const overlapping = Array.from({ length: 100 }, (_, i) => ({ name: `b/${i}`, overlaps: true }))
  const entries = [{ name: 'b/first' }, ...overlapping].map((each) => ({ ...each, ...bomb }))
  const payload = makeZip([...entries, skill('a')])
  const refused = await send(app, 'POST', '/skills/import', { payload, headers: ZIP })
  assert.match(assertProblem(refused, 413, 'archive_too_large').detail, /100 times/)
  assert.deepEqual(namesOf(await get(app, '/skills')), [])

  const limited = await buildTestApp(t, { env: { MAX_IMPORT_UNPACKED: '5000' } })
  const many = zipAround(...Array(3).fill({ name: PATH, data: 'x'.repeat(2000) }))
  const large = await send(limited, 'POST', '/skills/import', many)
  assertProblem(large, 413, 'archive_too_large')
  assert.deepEqual(namesOf(await get(limited, '/skills')), [])
})
