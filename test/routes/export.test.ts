import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArchive } from '../../src/registry/archives/read-archive.ts'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { readAll } from '../registry/archives/read-all.ts'
import { assertProblem, namesOf, patch, post, remove, send } from '../requests.ts'

const TYPES = { zip: 'application/zip', tgz: 'application/gzip' } as const
type Format = keyof typeof TYPES
const FORMATS: Format[] = ['zip', 'tgz']
const limits = { entries: 20_000, bytes: 256 * 1024 * 1024 }

async function unpack(bytes: Buffer, format: Format): Promise<[string, string][]> {
  const files = await readAll(await readArchive(bytes, format, limits))
  return files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString('base64')])
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const greetFiles = {
  'SKILL.md': skillMd('greet', 'Größe.\r\n'),
  'a/größe 名.txt': 'echo\r\n',
  'b.bin': Buffer.from([0, 255, 13, 10]),
  empty: '',
}

async function storeGreet(app: TestApp) {
  const { 'SKILL.md': content, ...others } = greetFiles
  const files = Object.entries(others).map(([path, data]) => ({
    path,
    content: base64(data),
    encoding: 'base64',
  }))
  const stored = await post(app, '/skills', { content, files })
  assert.equal(stored.statusCode, 201, stored.body)
}

const inGreet = Object.entries(greetFiles).map(([path, data]) => [`greet/${path}`, base64(data)])

for (const format of FORMATS) {
  test(`a skill comes as a ${format} with its name as the one folder`, async (t) => {
    const app = await buildTestApp(t)
    await storeGreet(app)
    const response = await get(app, `/skills/greet/archive?format=${format}`)
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], TYPES[format])
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
    assert.match(
      String(response.headers['content-disposition']),
      new RegExp(`^attachment; filename="?greet\\.${format}"?$`),
    )
    const { digest } = (await get(app, '/skills/greet')).json()
    assert.equal(response.headers.etag, `"${digest}-${format}"`)
    assert.deepEqual(await unpack(response.rawPayload, format), inGreet)
    const again = await get(app, `/skills/greet/archive?format=${format}`)
    assert.ok(again.rawPayload.equals(response.rawPayload))
    const version = await get(app, `/skills/greet/versions/1/archive?format=${format}`)
    assert.ok(version.rawPayload.equals(response.rawPayload))
  })

  test(`a ${format} of a skill is one that can be uploaded`, async (t) => {
    const app = await buildTestApp(t)
    await storeGreet(app)
    const { rawPayload: payload } = await get(app, `/skills/greet/archive?format=${format}`)
    const headers = { 'content-type': TYPES[format] }
    const response = await send(app, 'PUT', '/skills/greet', { payload, headers })
    assert.deepEqual([response.statusCode, response.json().latest_version], [200, 1])
  })
}

test('an archive is of the current version, or of the one that is named', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'One.'))
  await put(app, 'greet', skillMd('greet', 'Two.'))
  await patch(app, 'greet', { current_version: 1 })
  const bodyOf = async (path: string) => {
    const [[, text = ''] = []] = await unpack((await get(app, path)).rawPayload, 'zip')
    return Buffer.from(text, 'base64').toString().split('\n').at(-2)
  }
  assert.equal(await bodyOf('/skills/greet/archive'), 'One.')
  assert.equal(await bodyOf('/skills/greet/versions/2/archive'), 'Two.')
  assertProblem(await get(app, '/skills/greet/versions/3/archive'), 404, 'version_not_found')
  assertProblem(await get(app, '/skills/great/archive'), 404, 'skill_not_found')
  assertProblem(await get(app, '/skills/greet/archive?format=rar'), 400, 'query_invalid')
})

test('an archive that is known is not sent again', async (t) => {
  const app = await buildTestApp(t)
  await storeGreet(app)
  for (const path of ['/skills/greet/archive', '/skills/greet/versions/1/archive', '/export']) {
    const { headers } = await get(app, path)
    const known = await get(app, path, { 'if-none-match': String(headers.etag) })
    assert.deepEqual([known.statusCode, known.body], [304, ''], path)
    const head = await send(app, 'HEAD', path)
    assert.deepEqual([head.statusCode, head.body, head.headers.etag], [200, '', headers.etag], path)
  }
})

test('an export has a folder for each skill, in order, without drafts', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('zoo'))
  await storeGreet(app)
  await publish(app, skillMd('draft'), '?activate=false')
  await patch(app, 'zoo', { enabled: false })
  const response = await get(app, '/export')
  assert.equal(response.headers['content-type'], 'application/gzip')
  assert.match(String(response.headers['content-disposition']), /filename="?skills\.tgz/)
  const expected = [...inGreet, ['zoo/SKILL.md', base64(skillMd('zoo'))]]
  assert.deepEqual(await unpack(response.rawPayload, 'tgz'), expected)
  const zip = await get(app, '/export?format=zip')
  assert.deepEqual(await unpack(zip.rawPayload, 'zip'), expected)
})

test('the tag of an export changes with what is in it', async (t) => {
  const app = await buildTestApp(t)
  const tag = async () => (await get(app, '/export')).headers.etag
  const empty = await tag()
  await publish(app, skillMd('greet'))
  const one = await tag()
  await publish(app, skillMd('draft'), '?activate=false')
  assert.equal(await tag(), one)
  await put(app, 'greet', skillMd('greet', 'Two.'))
  assert.equal(new Set([empty, one, await tag()]).size, 3)
  await remove(app, 'greet')
  assert.equal(await tag(), empty)
})

for (const format of FORMATS) {
  test(`an export as ${format} makes the same skills elsewhere, and nothing here`, async (t) => {
    const [here, there] = [await buildTestApp(t), await buildTestApp(t)]
    await storeGreet(here)
    // More than one page of a list.
    for (let at = 0; at < 120; at++) await publish(here, skillMd(`skill-${at}`, `Body ${at}.`))
    const files = [{ path: 'zeros', content: '\0'.repeat(1_000_000) }]
    await post(here, '/skills', { content: skillMd('zeros'), files })
    const { rawPayload: payload } = await get(here, `/export?format=${format}`)
    const upload = { payload, headers: { 'content-type': TYPES[format] } }

    const first = (await send(there, 'POST', '/skills/import', upload)).json()
    assert.deepEqual([first.created, first.failed, first.skipped], [122, 0, []])
    for (const app of [there, here]) {
      const { unchanged, results } = (await send(app, 'POST', '/skills/import', upload)).json()
      assert.deepEqual([unchanged, results.length], [122, 122])
    }
    const again = await get(there, `/export?format=${format}`)
    assert.ok(again.rawPayload.equals(payload))
    const digests = async (app: TestApp) =>
      (await get(app, '/skills?limit=100'))
        .json()
        .data.map(({ digest }: { digest: string }) => digest)
    assert.deepEqual(await digests(there), await digests(here))
  })

  test(`an empty service exports a ${format} that imports nothing`, async (t) => {
    const app = await buildTestApp(t)
    const { rawPayload: payload } = await get(app, `/export?format=${format}`)
    const headers = { 'content-type': TYPES[format] }
    const response = await send(app, 'POST', '/skills/import', { payload, headers })
    const nothing = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: [] }
    assert.deepEqual(response.json(), { results: [], ...nothing })
  })
}

test('reading archives takes skills:read, and an import skills:write', async (t) => {
  const { app, keys } = await withKeys(t, { reader: ['skills:read'], writer: ['skills:write'] })
  await post(app, '/skills', { content: skillMd('greet') }, keys.writer)
  for (const path of ['/export', '/skills/greet/archive', '/skills/greet/versions/1/archive']) {
    assert.equal((await get(app, path, keys.reader)).statusCode, 200, path)
    assertProblem(await get(app, path, keys.writer), 403, 'insufficient_scope')
  }
  const { rawPayload: payload } = await get(app, '/export', keys.reader)
  const importAs = (key: Record<string, string>) =>
    send(app, 'POST', '/skills/import', {
      payload,
      headers: { 'content-type': 'application/gzip', ...key },
    })
  assertProblem(await importAs(keys.reader), 403, 'insufficient_scope')
  assert.equal((await importAs(keys.writer)).json().unchanged, 1)
  assert.deepEqual(namesOf(await get(app, '/skills', keys.reader)), ['greet'])
})
