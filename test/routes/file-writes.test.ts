import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, post, send } from '../requests.ts'

const png = Buffer.from([0x89, 0x50, 0, 255, 13, 10])

const putFile = (app: TestApp, path: string, payload: string | Buffer, headers = {}) =>
  send(app, 'PUT', `/skills/greet/files/${path}`, { payload, headers })
const removeFile = (app: TestApp, path: string, headers = {}) =>
  send(app, 'DELETE', `/skills/greet/files/${path}`, { headers })

async function withSkill(t: Parameters<typeof buildTestApp>[0]) {
  const app = await buildTestApp(t)
  const files = [{ path: 'notes.txt', content: 'one' }]
  await post(app, '/skills', { content: skillMd('greet'), files })
  return app
}

test('a file of any type is put as it is, in a new version', async (t) => {
  const app = await withSkill(t)
  const json = { 'content-type': 'application/json' }
  const added = await putFile(app, 'assets/logo.png', png, { 'content-type': 'image/png' })
  assert.deepEqual([added.statusCode, added.json().version], [201, 2])
  assert.equal(added.headers.etag, (await get(app, '/skills/greet')).headers.etag)
  const changed = await putFile(app, 'notes.txt', '{ no json', json)
  assert.deepEqual([changed.statusCode, changed.json().version], [200, 3])
  const empty = await send(app, 'PUT', '/skills/greet/files/empty')
  assert.deepEqual([empty.statusCode, empty.json().file_count], [201, 3])

  assert.deepEqual((await get(app, '/skills/greet/files/assets/logo.png')).rawPayload, png)
  assert.equal((await get(app, '/skills/greet/files/notes.txt')).body, '{ no json')
  assert.equal((await get(app, '/skills/greet/files/empty')).body, '')
  assert.equal((await get(app, '/skills/greet/content')).body, skillMd('greet'))
  const before = await get(app, '/skills/greet/versions/1/files')
  assert.equal(before.json().data.length, 1)
})

test('the same bytes again are no version', async (t) => {
  const app = await withSkill(t)
  const same = await putFile(app, 'notes.txt', 'one')
  assert.deepEqual([same.statusCode, same.json().latest_version], [200, 1])
})

test('a file is taken away in a new version, and its note is kept', async (t) => {
  const app = await withSkill(t)
  const removed = await removeFile(app, 'notes.txt?note=old')
  assert.deepEqual([removed.statusCode, removed.json().file_count], [200, 0])
  assert.equal((await get(app, '/skills/greet/versions/2')).json().note, 'old')
  assertProblem(await get(app, '/skills/greet/files/notes.txt'), 404, 'file_not_found')
  assertProblem(await removeFile(app, 'notes.txt'), 404, 'file_not_found')
  assert.equal((await get(app, '/skills/greet/versions/1/files/notes.txt')).body, 'one')
})

test('SKILL.md is put like any file and checked like any skill, but never taken away', async (t) => {
  const app = await withSkill(t)
  const changed = await putFile(app, 'SKILL.md', skillMd('greet', 'Bow.'))
  assert.deepEqual([changed.statusCode, changed.json().file_count], [200, 1])
  assert.equal((await get(app, '/skills/greet')).json().body, 'Bow.\n')
  assertProblem(await putFile(app, 'SKILL.md', 'text'), 422, 'frontmatter_missing')
  assertProblem(await putFile(app, 'SKILL.md', skillMd('other')), 422, 'name_mismatch')
  await putFile(app, 'docs/SKILL.md', skillMd('inner'))
  assertProblem(await removeFile(app, 'SKILL.md'), 422, 'archive_no_skill')
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 3)
})

test('a path that no bundle may hold is refused, and nothing changes', async (t) => {
  const app = await withSkill(t)
  for (const [path, code] of [
    ['%2e%2e%2foutside.txt', 'archive_path'],
    ['a%00.txt', 'archive_path'],
    ['C:%5Ca.txt', 'archive_path'],
    ['a%2f%2fb', 'archive_path'],
    ['NOTES.txt', 'archive_duplicate'],
    ['notes.txt/inside', 'archive_duplicate'],
    ['skill.md', 'archive_duplicate'],
  ] as const) {
    assertProblem(await putFile(app, path, 'x'), 422, code)
  }
  assert.equal((await putFile(app, 'dir%5Cfile', 'x')).statusCode, 201)
  assert.equal((await putFile(app, 'dir%5Cfile', 'y')).statusCode, 200)
  assert.equal((await get(app, '/skills/greet/files/dir/file')).body, 'y')
  const noise = await putFile(app, '.DS_Store', 'x')
  assert.deepEqual([noise.statusCode, noise.json().skipped], [200, ['.DS_Store']])
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 3)
})

test('a skill that is not there is unknown, with the nearest names', async (t) => {
  const app = await withSkill(t)
  for (const method of ['PUT', 'DELETE'] as const) {
    const problem = assertProblem(
      await send(app, method, '/skills/gret/files/a.txt'),
      404,
      'skill_not_found',
    )
    assert.deepEqual(problem.suggestions, ['greet'])
  }
})

test('preconditions take the tag of the file or of the skill, and ask for the file', async (t) => {
  const app = await withSkill(t)
  const tagOf = async (path: string) => String((await get(app, path)).headers.etag)
  const skill = await tagOf('/skills/greet')
  const file = await tagOf('/skills/greet/files/notes.txt')
  const match = (tag: string) => ({ 'if-match': tag })
  const absent = { 'if-none-match': '*' }
  assertProblem(await putFile(app, 'notes.txt', 'x', absent), 412, 'version_conflict')
  assertProblem(await putFile(app, 'new.txt', 'x', match('*')), 412, 'version_conflict')
  assertProblem(await putFile(app, 'new.txt', 'x', match(file)), 412, 'version_conflict')
  assert.equal((await putFile(app, 'notes.txt', 'two', match(file))).statusCode, 200)
  for (const stale of [file, skill]) {
    assertProblem(await putFile(app, 'notes.txt', 'x', match(stale)), 412, 'version_conflict')
    assertProblem(await removeFile(app, 'notes.txt', match(stale)), 412, 'version_conflict')
  }
  const current = await tagOf('/skills/greet')
  assert.equal((await putFile(app, 'new.txt', 'x', match(current))).statusCode, 201)
  assert.equal((await putFile(app, 'other.txt', 'x', absent)).statusCode, 201)
  assert.equal((await removeFile(app, 'notes.txt', match('*'))).statusCode, 200)
  assertProblem(await putFile(app, 'a', 'x', match('no tag')), 400, 'header_invalid')
})

test('the same key is replayed with the status of the first time', async (t) => {
  const app = await withSkill(t)
  const key = { 'idempotency-key': 'k' }
  const first = await putFile(app, 'a.bin', png, key)
  const again = await putFile(app, 'a.bin', png, key)
  assert.deepEqual(
    [again.statusCode, again.body, again.headers['idempotent-replayed']],
    [201, first.body, 'true'],
  )
  assertProblem(await putFile(app, 'a.bin', 'other', key), 422, 'idempotency_mismatch')
})

test('files put at once are all there in the end', async (t) => {
  const app = await withSkill(t)
  const paths = ['a', 'b', 'c', 'd']
  const responses = await Promise.all(paths.map((path) => putFile(app, path, path)))
  assert.deepEqual(
    responses.map(({ statusCode }) => statusCode),
    paths.map(() => 201),
  )
  assert.equal((await get(app, '/skills/greet')).json().file_count, 5)
})

test('what was stored leniently stays editable, and a draft stays a draft', async (t) => {
  const app = await buildTestApp(t)
  const lenient = '---\nname: greet\ndescription: Greets: says hello.\n---\nHi.\n'
  await publish(app, lenient, '?mode=lenient&activate=false')
  const added = await putFile(app, 'a.txt', 'x')
  assert.deepEqual([added.statusCode, added.json().version], [201, null])
  assert.equal((await get(app, '/skills/greet/content')).body, lenient)
})

test('a file over the limit is 413', async (t) => {
  const app = await buildTestApp(t, { env: { MAX_FILE_BYTES: '10', MAX_BUNDLE_FILES: '2' } })
  await publish(app, skillMd('greet'))
  assertProblem(await putFile(app, 'a', 'x'.repeat(11)), 413, 'archive_too_large')
  assert.equal((await putFile(app, 'a', 'x')).statusCode, 201)
  assertProblem(await putFile(app, 'b', 'x'), 413, 'archive_too_large')
})
