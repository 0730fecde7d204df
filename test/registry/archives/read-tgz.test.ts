import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import { readArchive } from '../../../src/registry/archives/read-archive.ts'
import { buildTestApp, get, skillMd } from '../../build-app.ts'
import { assertProblem, namesOf, send } from '../../requests.ts'
import { tempFolder } from '../../temp-folder.ts'
import { makeGzipBomb, makeTar, makeTgz, paxRecords, type TarEntry } from './make-tgz.ts'
import { readAll } from './read-all.ts'

const headers = { 'content-type': 'application/gzip' }
const skill: TarEntry = { name: 'SKILL.md', data: skillMd('greet') }

const withFile = (...entries: TarEntry[]) => makeTgz([skill, ...entries])
const whole = withFile({ name: 'a.txt', data: 'some text' })
const pax = (records: Record<string, string>): TarEntry => ({
  name: 'PaxHeader',
  type: 'x',
  data: paxRecords(records),
})
const damagedTar = makeTar([skill, { name: 'a.txt', data: 'x' }])
damagedTar[1030] = 0xff

const hostile: [what: string, code: string, tgz: Buffer][] = [
  ['..', 'archive_path', withFile({ name: '../outside.txt' })],
  ['absolute', 'archive_path', withFile({ name: '/etc/passwd' })],
  ['a folder ..', 'archive_path', withFile({ name: '../a/', type: '5' })],
  ['an absolute folder', 'archive_path', withFile({ name: '/etc/', type: '5' })],
  ['a folder on a drive', 'archive_path', withFile({ name: 'C:\\a', type: '5' })],
  ['.. by pax', 'archive_path', withFile(pax({ path: 'a/../../b' }), { name: 'b' })],
  ['NUL by pax', 'archive_path', withFile(pax({ path: 'a\0.md' }), { name: 'b' })],
  ['.. by GNU', 'archive_path', withFile({ name: 'L', type: 'L', data: '../b\0' }, { name: 'b' })],
  ['control characters', 'archive_path', withFile({ name: 'a\r\n\x1b.txt' })],
  ['a name that is not UTF-8', 'archive_path', withFile({ name: Buffer.from([0x61, 0xff]) })],
  ['a symbolic link', 'archive_link', withFile({ name: 'a', type: '2', link: '/etc' })],
  ['a hard link', 'archive_link', withFile({ name: 'a', type: '1', link: 'SKILL.md' })],
  ['a character device', 'archive_link', withFile({ name: 'a', type: '3' })],
  ['a block device', 'archive_link', withFile({ name: 'a', type: '4' })],
  ['a FIFO', 'archive_link', withFile({ name: 'a', type: '6' })],
  ['a sparse file', 'archive_link', withFile({ name: 'a', type: 'S' })],
  ['an unknown type', 'archive_link', withFile({ name: 'a', type: 'Z' })],
  ['two of one name', 'archive_duplicate', withFile({ name: 'a' }, { name: 'a' })],
  ['a file and a folder', 'archive_duplicate', withFile({ name: 'a' }, { name: 'a/b' })],
  ['a damaged header', 'archive_corrupt', gzipSync(damagedTar)],
  ['a cut tar', 'archive_corrupt', gzipSync(damagedTar.subarray(0, 600))],
  ['a cut gzip', 'archive_corrupt', whole.subarray(0, whole.length - 10)],
  ['another checksum', 'archive_corrupt', Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])],
  ['a size that lies', 'archive_corrupt', withFile({ name: 'a', data: 'x', size: 5000 })],
  ['what is packed twice', 'archive_corrupt', gzipSync(whole)],
  ['what is packed twice, bit by bit', 'archive_corrupt', inPieces(whole)],
  ['a long extended header', 'archive_corrupt', withFile(pax({ note: 'x'.repeat(70_000) }), skill)],
  ['no tar', 'archive_corrupt', gzipSync('some words')],
  ['much that is no tar', 'archive_corrupt', gzipSync('some words'.repeat(200))],
  ['no gzip', 'archive_corrupt', Buffer.from('this is no archive')],
  ['an unpacked tar', 'archive_corrupt', makeTar([skill])],
  ['nothing', 'archive_corrupt', Buffer.alloc(0)],
  ['no files', 'archive_no_skill', makeTgz([])],
]

/** Several gzip members, of which the first holds a single byte. */
function inPieces(bytes: Buffer): Buffer {
  const pieces = [bytes.subarray(0, 1), bytes.subarray(1)]
  return Buffer.concat(pieces.map((piece) => gzipSync(piece)))
}

test('a hostile or damaged tgz is refused whole, with its code', async (t) => {
  const app = await buildTestApp(t)
  for (const [what, code, payload] of hostile) {
    const response = await send(app, 'POST', '/skills', { payload, headers })
    assert.equal(response.json().code, code, `${what}: ${response.body}`)
    const problem = assertProblem(response, 422, code)
    assert.doesNotMatch(problem.detail, /\p{Cc}/u, what)
    const checked = await send(app, 'POST', '/skills/validate', { payload, headers })
    assert.equal(checked.json().errors[0].code, code, what)
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('bombs are refused as too large', async (t) => {
  const app = await buildTestApp(t)
  const size = 1 << 30
  const head = makeTar([skill, { name: 'zeros', size }]).subarray(0, -1024)
  const behind = makeTar([skill])
  const entries = Array.from({ length: 10_000 }, (_, i) => ({ name: `f/${i}` }))
  for (const [what, payload] of [
    ['a file of a gigabyte', makeGzipBomb(head)],
    ['a gigabyte behind the end', makeGzipBomb(behind)],
    ['a ratio of 1000', withFile({ name: 'zeros', data: Buffer.alloc(1 << 20) })],
    ['extended headers', makeTgz([...Array(50).fill(pax({ note: 'x'.repeat(60_000) })), skill])],
    ['10,000 entries', makeTgz(entries)],
  ] as const) {
    const response = await send(app, 'POST', '/skills', { payload, headers })
    assert.equal(response.statusCode, 413, `${what}: ${response.body}`)
    assertProblem(response, 413, 'archive_too_large')
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('the limits are those that are given', async () => {
  const limits = { entries: 2, bytes: 300 }
  const archive = await readArchive(withFile({ name: 'a' }), 'tgz', limits)
  assert.equal(archive.entries.length, 2)
  for (const tgz of [
    withFile({ name: 'a' }, { name: 'b' }),
    withFile({ name: 'a', data: 'x'.repeat(300) }),
  ]) {
    await assert.rejects(readArchive(tgz, 'tgz', limits), { code: 'archive_too_large' })
  }
})

test('what tar writes is read: folders, long names, special modes', async (t) => {
  const folder = await tempFolder(t)
  const deep = `greet/${'ordner-mit-ü/'.repeat(9)}datei-名.txt`
  await mkdir(join(folder, deep, '..'), { recursive: true })
  await writeFile(join(folder, deep), 'deep', { mode: 0o4755 })
  await writeFile(join(folder, 'greet/SKILL.md'), skillMd('greet'))
  await writeFile(join(folder, 'greet/large.bin'), randomBytes(200_000))
  for (const portable of [true, false]) {
    const chunks = await create({ cwd: folder, gzip: true, portable }, ['greet']).collect()
    const payload = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))
    const { entries } = await readArchive(payload, 'tgz', { entries: 99, bytes: 1 << 20 })
    const paths = entries.map(({ path }) => path).toSorted()
    assert.deepEqual(paths, ['greet/SKILL.md', 'greet/large.bin', deep].toSorted())
  }
})

test('files come with their bytes, as often as asked', async () => {
  const archive = await readArchive(whole, 'tgz', { entries: 9, bytes: 10_000 })
  for (const _ of [1, 2]) {
    const read = await readAll(archive)
    assert.deepEqual(
      read.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]),
      [
        ['SKILL.md', skillMd('greet')],
        ['a.txt', 'some text'],
      ],
    )
  }
})
