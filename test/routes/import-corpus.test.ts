import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import type { ArchiveFormat } from '../../src/registry/archives/archive.ts'
import { writeArchive } from '../../src/registry/archives/write-archive.ts'
import { buildTestApp, get, type TestApp } from '../build-app.ts'
import { send } from '../requests.ts'
import { formType, makeForm } from '../upload.ts'

const FOLDER = new URL('../../../shared/corpus/', import.meta.url)
const TYPES = { zip: 'application/zip', tgz: 'application/gzip' }

interface Expected {
  codes?: string[]
  codes_alt?: string[]
  name?: string | null
}
interface Row {
  path: string
  expect: Expected & {
    strict: 'ok' | 'error'
    lenient: Expected & { result: string; warnings?: string[]; query?: { name: string } }
  }
}
interface Fault {
  code: string
}
interface Result {
  path: string
  name: string | null
  status: string
  errors: Fault[]
  warnings: Fault[]
}

const missing = !existsSync(new URL('index.json', FOLDER))
const skip = missing && !process.env.CI ? `${FOLDER.pathname} is not there` : false
const rows: Row[] = missing ? [] : JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8'))
const bytesOf = ({ path }: Row) => readFileSync(new URL(path, FOLDER))

/** One folder a file, named for the skill; for its place in the corpus where that is taken. */
const folders = new Map<string, Row>()
for (const row of rows) {
  const { name, lenient } = row.expect
  const wanted = lenient.query?.name ?? lenient.name ?? name ?? ''
  const free = /^[\w.-]+$/.test(wanted) && !folders.has(wanted)
  folders.set(free ? wanted : (row.path.split('/')[0] ?? ''), row)
}
const files = [...folders].map(([folder, row]) => ({
  path: `${folder}/SKILL.md`,
  bytes: bytesOf(row),
}))

const codesOf = (faults: Fault[]) => faults.map(({ code }) => code)

/** As an archive, or as the parts of a form, as a browser sends a folder. */
async function bodyOf(way: ArchiveFormat | 'form') {
  if (way === 'form') {
    const parts = files.map(({ path, bytes }) => ({ fileName: path, data: bytes }))
    return { payload: makeForm(parts), headers: formType }
  }
  const payload = await buffer(writeArchive(way, files))
  return { payload, headers: { 'content-type': TYPES[way] } }
}

async function importCorpus(
  app: TestApp,
  way: ArchiveFormat | 'form',
  mode: string,
): Promise<Result[]> {
  const { payload, headers } = await bodyOf(way)
  const response = await send(app, 'POST', `/skills/import?mode=${mode}`, { payload, headers })
  assert.equal(response.statusCode, 200, response.body.slice(0, 500))
  const { results, created, updated, failed } = response.json()
  assert.equal(results.length, rows.length)
  assert.deepEqual([created + failed, updated], [rows.length, 0])
  return results
}

async function assertStoredAsGiven(app: TestApp, { name }: Result, row: Row) {
  const { rawPayload } = await get(app, `/skills/${name}/content`)
  assert.ok(rawPayload.equals(bytesOf(row)), row.path)
}

/** The results with their rows; of one name only the first is stored. */
function* matched(results: Result[]): Generator<[result: Result, row: Row]> {
  const stored = new Map<string | null, string>()
  for (const result of results) {
    const row = folders.get(result.path.split('/')[0] ?? '')
    assert.ok(row, result.path)
    if (codesOf(result.errors).includes('name_conflict')) {
      assert.ok(stored.has(result.name), result.path)
      continue
    }
    if (result.status === 'created') stored.set(result.name, result.path)
    yield [result, row]
  }
}

suite('the whole corpus at once', { skip, concurrency: 1 }, () => {
  test('as a folder is stored and refused as it is as an archive', async (t) => {
    const outcomes = async (way: ArchiveFormat | 'form') =>
      (await importCorpus(await buildTestApp(t), way, 'strict')).map(
        ({ path, name, status, errors }) => [path, name, status, codesOf(errors)],
      )
    assert.deepEqual(await outcomes('form'), await outcomes('zip'))
  })

  test('is stored strictly, or refused, as its index says', async (t) => {
    const app = await buildTestApp(t)
    let stored = 0
    for (const [result, row] of matched(await importCorpus(app, 'zip', 'strict'))) {
      const { strict, codes = [], codes_alt = [], name } = row.expect
      const found = codesOf(result.errors)
      if (result.status === 'created') {
        assert.equal(strict, 'ok', `${row.path} is stored, and not ${codes}`)
        assert.equal(result.name, name)
        await assertStoredAsGiven(app, result, row)
        stored += 1
      } else {
        const fits = codes.length > 0 && codes.every((code) => found.includes(code))
        assert.ok(fits || codes_alt.some((code) => found.includes(code)), `${row.path}: ${found}`)
      }
    }
    assert.ok(stored > 290, `${stored} stored`)
  })

  test('is stored leniently, or refused, as its index says', async (t) => {
    const app = await buildTestApp(t)
    for (const [result, row] of matched(await importCorpus(app, 'tgz', 'lenient'))) {
      const { lenient } = row.expect
      const found = codesOf(result.errors)
      if (result.status === 'created') {
        // The folder gives a name to what has none.
        const named = [...(lenient.codes ?? []), ...(lenient.codes_alt ?? [])].includes(
          'name_missing',
        )
        assert.ok(lenient.result !== 'error' || named, row.path)
        if (lenient.name) assert.equal(result.name, lenient.name)
        const warned = codesOf(result.warnings)
        const wanted = lenient.warnings ?? []
        assert.ok(
          wanted.every((code) => warned.includes(code)),
          `${row.path}: ${warned}`,
        )
        await assertStoredAsGiven(app, result, row)
      } else {
        assert.notEqual(lenient.result, 'ok', `${row.path}: ${found}`)
        const fits = [...(lenient.codes ?? []), ...(lenient.codes_alt ?? []), 'frontmatter_yaml']
        assert.ok(
          found.some((code) => fits.includes(code)),
          `${row.path}: ${found}`,
        )
      }
    }
  })

  test('comes back from an export without a change', async (t) => {
    const [here, there] = [await buildTestApp(t), await buildTestApp(t)]
    await importCorpus(here, 'zip', 'lenient')
    const exported = await get(here, '/export')
    const upload = { payload: exported.rawPayload, headers: { 'content-type': TYPES.tgz } }
    const bring = async (app: TestApp) =>
      (await send(app, 'POST', '/skills/import?mode=lenient', upload)).json()
    const first = await bring(there)
    assert.deepEqual([first.failed, first.created], [0, first.results.length])
    for (const app of [here, there]) {
      const { unchanged, results } = await bring(app)
      assert.equal(unchanged, results.length)
    }
    const again = await get(there, '/export')
    assert.ok(again.rawPayload.equals(exported.rawPayload))
  })
})
