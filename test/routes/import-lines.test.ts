import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, skillMd, type TestApp } from '../build-app.ts'
import { listen } from '../http/event-reader.ts'
import { makeZip } from '../registry/archives/make-zip.ts'
import { assertProblem, send } from '../requests.ts'
import { type Files, waysOf } from '../upload.ts'

const ZIP = { 'content-type': 'application/zip' }
const three: Files = {
  'skills/two/SKILL.md': skillMd('two'),
  'skills/one/SKILL.md': skillMd('one'),
  'skills/bad/SKILL.md': 'No frontmatter.\n',
  'README.md': 'Ours.',
  LICENSE: 'MIT',
}
const importFiles = (app: TestApp, files: Files, headers = {}) => {
  const { payload } = waysOf(files).zip
  return send(app, 'POST', '/skills/import', { payload, headers: { ...ZIP, ...headers } })
}

const LINES = { accept: 'application/x-ndjson' }
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('as lines it tells of each skill, and last the counts', async (t) => {
  const app = await buildTestApp(t)
  const { payload, headers } = waysOf(three).zip
  const url = `${await listen(app)}/skills/import`
  const body = new Uint8Array(payload)
  const response = await fetch(url, { method: 'POST', body, headers: { ...headers, ...LINES } })
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  assert.match(response.headers.get('x-request-id') ?? '', /^req_/)
  const lines = linesOf(await response.text())
  const { skipped, ...last } = lines.pop()
  assert.deepEqual(last, { created: 2, updated: 0, unchanged: 0, failed: 1 })
  assert.equal(skipped.length, 2)
  const { results } = (await importFiles(app, three)).json()
  assert.deepEqual(
    lines.map(({ path }) => path),
    results.map(({ path }: { path: string }) => path),
  )
})

test('as lines, what spoils the whole archive is still a problem', async (t) => {
  const app = await buildTestApp(t)
  const payload = makeZip([{ name: '../x' }])
  const headers = { ...ZIP, ...LINES }
  assertProblem(
    await send(app, 'POST', '/skills/import', { payload, headers }),
    422,
    'archive_path',
  )
})

test('a client that leaves ends the import between two skills', async (t) => {
  const app = await buildTestApp(t, { env: { LOG_LEVEL: 'silent' } })
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, at) => [
      `s${at}/SKILL.md`,
      skillMd(`s${at}`, 'x'.repeat(9000)),
    ]),
  )
  const { payload, headers } = waysOf(many).zip
  const leaving = new AbortController()
  const response = await fetch(`${await listen(app)}/skills/import`, {
    method: 'POST',
    body: new Uint8Array(payload),
    headers: { ...headers, ...LINES },
    signal: leaving.signal,
  })
  await response.body?.getReader().read()
  leaving.abort()
  const stored = async () => (await get(app, '/catalog?format=json')).json().revision
  let before = -1
  for (let now = await stored(); now !== before; now = await stored()) {
    before = now
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.ok(before > 0 && before < 400, `${before} of 400`)
})

test('an idempotency key gets the first answer again, and takes no other archive', async (t) => {
  const app = await buildTestApp(t)
  const key = { 'idempotency-key': 'k1' }
  const first = await importFiles(app, three, key)
  const again = await importFiles(app, three, key)
  assert.deepEqual(again.json(), first.json())
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const other = await importFiles(app, { 'x/SKILL.md': skillMd('x') }, key)
  assertProblem(other, 422, 'idempotency_mismatch')
  const lines = await importFiles(app, three, { 'idempotency-key': 'k2', ...LINES })
  assert.deepEqual(linesOf(lines.body).at(-1).unchanged, 2)
  assert.match(String(lines.headers['content-type']), /^application\/x-ndjson/)
})
