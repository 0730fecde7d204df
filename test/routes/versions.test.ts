import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, patch, remove } from '../requests.ts'

async function withVersions(app: TestApp, count: number) {
  for (let version = 1; version <= count; version++) {
    await put(app, 'greet', skillMd('greet', `Hello ${version}.`))
  }
}

const numbersOf = (response: { json(): { data: { version: number }[] } }) =>
  response.json().data.map(({ version }) => version)

test('versions are listed newest first, with note and author', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'One.'), '?note=first%20try')
  await patch(app, 'greet?note=a%20licence', { license: 'MIT' })
  await put(app, 'greet', skillMd('greet', 'Three.'))
  const { data, next_cursor } = (await get(app, '/skills/greet/versions')).json()
  assert.equal(next_cursor, null)
  assert.deepEqual(
    data.map(({ version, note, by, license }: Record<string, unknown>) => [
      version,
      note,
      by,
      license,
    ]),
    [
      [3, null, null, null],
      [2, 'a licence', null, 'MIT'],
      [1, 'first try', null, null],
    ],
  )
  assert.equal(data[0].body, undefined)
})

test('the author of a version is the key that wrote it', async (t) => {
  const app = await buildTestApp(t, { env: { ADMIN_KEY: 'an-admin-key-of-a-test' } })
  const key = { 'x-api-key': 'an-admin-key-of-a-test' }
  await put(app, 'greet', skillMd('greet'), key)
  await patch(app, 'greet', { license: 'MIT' }, key)
  const { data } = (await get(app, '/skills/greet/versions', key)).json()
  assert.deepEqual(
    data.map(({ by }: { by: string }) => by),
    ['key_admin', 'key_admin'],
  )
})

test('a version is read as it was, whatever came after', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 1)
  const before = await get(app, '/skills/greet/versions/1')
  assert.equal(before.statusCode, 200)
  assert.deepEqual([before.json().version, before.json().body], [1, 'Hello 1.\n'])
  await withVersions(app, 3)
  const after = await get(app, '/skills/greet/versions/1')
  assert.deepEqual(after.json(), before.json())
  assert.equal(after.headers.etag, before.headers.etag)
})

test('a version of a skill that was made anew has another tag', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 1)
  const before = await get(app, '/skills/greet/versions/1')
  await remove(app, 'greet')
  await publish(app, skillMd('greet', 'Hello 1.'), '?note=again')
  const after = await get(app, '/skills/greet/versions/1')
  assert.notDeepEqual(after.json(), before.json())
  assert.notEqual(after.headers.etag, before.headers.etag)
})

test('versions are walked to the end while new ones are added', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 5)
  const seen: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const url: string = `/skills/greet/versions?limit=2${cursor && `&cursor=${cursor}`}`
    const page = await get(app, url)
    seen.push(...numbersOf(page))
    cursor = page.json().next_cursor
    await put(app, 'greet', skillMd('greet', `Later ${seen.length}.`))
  }
  assert.deepEqual(seen, [5, 4, 3, 2, 1])
})

test('a deleted version is gone, and its number never used again', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 3)
  await patch(app, 'greet', { current_version: 1 })
  assert.equal((await remove(app, 'greet/versions/3')).statusCode, 204)
  assertProblem(await get(app, '/skills/greet/versions/3'), 404, 'version_not_found')
  assertProblem(await remove(app, 'greet/versions/3'), 404, 'version_not_found')
  assertProblem(await patch(app, 'greet', { current_version: 3 }), 404, 'version_not_found')

  assert.equal((await put(app, 'greet', skillMd('greet', 'Anew.'))).json().version, 4)
  assert.deepEqual(numbersOf(await get(app, '/skills/greet/versions')), [4, 2, 1])
})

test('the current version cannot be deleted, nor the only one of a draft', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 2)
  assertProblem(await remove(app, 'greet/versions/2'), 409, 'version_current')
  assert.equal((await remove(app, 'greet/versions/1')).statusCode, 204)

  await publish(app, skillMd('draft'), '?activate=false')
  assertProblem(await remove(app, 'draft/versions/1'), 409, 'version_current')
})

test('only versions that are there are found', async (t) => {
  const app = await buildTestApp(t)
  await withVersions(app, 1)
  for (const [path, status, code] of [
    ['greet/versions/2', 404, 'version_not_found'],
    ['greet/versions/2/content', 404, 'version_not_found'],
    ['greet/versions/2/files', 404, 'version_not_found'],
    ['greet/versions/2/files/a.txt', 404, 'version_not_found'],
    ['great/versions', 404, 'skill_not_found'],
    ['great/versions/1', 404, 'skill_not_found'],
    ['great/versions/1/content', 404, 'skill_not_found'],
    ['greet/versions/0', 400, 'request_invalid'],
    ['greet/versions/-1', 400, 'request_invalid'],
    ['greet/versions/1.0', 400, 'request_invalid'],
    ['greet/versions/01', 400, 'request_invalid'],
    ['greet/versions/latest', 400, 'request_invalid'],
    ['greet/versions/2147483648', 400, 'request_invalid'],
    ['greet/versions/99999999999999999999', 400, 'request_invalid'],
    ['greet/versions?limit=0', 400, 'query_invalid'],
    ['greet/versions?colour=red', 400, 'query_invalid'],
    ['greet/versions/1?colour=red', 400, 'query_invalid'],
    ['greet/versions?cursor=!', 400, 'cursor_invalid'],
  ] as const) {
    const response = await get(app, `/skills/${path}`)
    assert.equal(response.statusCode, status, path)
    assertProblem(response, status, code)
  }
  assertProblem(await remove(app, 'great/versions/1'), 404, 'skill_not_found')
})
