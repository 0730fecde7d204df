import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, patch, post, type Response, send } from '../requests.ts'
import { tempFolder } from '../temp-folder.ts'
import { withKeys } from './with-keys.ts'

const once = { 'idempotency-key': 'first-try' }
const content = { content: skillMd('greet') }
const create = (app: TestApp, payload: object = content, headers = {}) =>
  post(app, '/skills', payload, { ...once, ...headers })

const volatile = ['date', 'x-request-id', 'idempotent-replayed']

function assertReplay(again: Response, first: Response) {
  const { 'idempotent-replayed': replayed } = again.headers
  assert.deepEqual([replayed, first.headers['idempotent-replayed']], ['true', undefined])
  assert.equal(again.statusCode, first.statusCode)
  assert.equal(again.body, first.body)
  for (const [name, value] of Object.entries(first.headers)) {
    if (!volatile.includes(name)) assert.equal(again.headers[name], value, name)
  }
}

test('the same POST again answers as the first time, and does nothing', async (t) => {
  const app = await buildTestApp(t)
  const first = await create(app)
  assert.equal(first.statusCode, 201)
  assertReplay(await create(app), first)
  assert.equal((await get(app, '/catalog')).headers['x-catalog-revision'], '1')
})

test('PUT and PATCH are replayed, whatever was written since', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const update = () => put(app, 'greet', skillMd('greet', 'Two.'), { 'idempotency-key': 'put' })
  const edit = () => patch(app, 'greet', { license: 'MIT' }, { 'idempotency-key': 'edit' })
  const off = () => patch(app, 'greet', { enabled: false }, { 'idempotency-key': 'off' })
  const firsts = [await update(), await edit(), await off()]
  await put(app, 'greet', skillMd('greet', 'Later.'))
  const again = [await update(), await edit(), await off()]
  for (const [index, response] of again.entries()) {
    const first = firsts[index]
    assert.ok(first)
    assertReplay(response, first)
  }
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 4)
})

test('what was left out of a bundle is in the replay as well', async (t) => {
  const app = await buildTestApp(t)
  const files = [{ path: '.DS_Store', content: '' }]
  const first = await create(app, { ...content, files })
  assert.deepEqual(first.json().skipped, ['.DS_Store'])
  assertReplay(await create(app, { ...content, files }), first)
})

test('a replay outlives the process', async (t) => {
  const env = { DATABASE_URL: `sqlite:${await tempFolder(t)}/skills.db` }
  const before = await buildTestApp(t, { env })
  const first = await create(before)
  await before.close()
  assertReplay(await create(await buildTestApp(t, { env })), first)
})

test('the same key for another request is idempotency_mismatch', async (t) => {
  const app = await buildTestApp(t)
  await create(app)
  for (const other of [
    () => create(app, { content: skillMd('other') }),
    () => post(app, '/skills?mode=lenient', content, once),
    () => create(app, content, { 'if-none-match': '*' }),
    () => create(app, Buffer.from(skillMd('greet')), { 'content-type': 'text/markdown' }),
    () => put(app, 'greet', skillMd('greet'), once),
    () => patch(app, 'greet', { license: 'MIT' }, once),
  ]) {
    assertProblem(await other(), 422, 'idempotency_mismatch')
  }
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)
})

test('a refusal is replayed, with its status and request id, also when it would pass now', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const first = await create(app)
  assertProblem(first, 409, 'skill_exists')
  await send(app, 'DELETE', '/skills/greet')
  assertReplay(await create(app), first)
  assert.equal((await post(app, '/skills', content)).statusCode, 201)

  const broken = { content: '---\nname: x\n---\n' }
  const key = { 'idempotency-key': 'broken' }
  const refused = await create(app, broken, key)
  assertProblem(refused, 422, 'description_missing')
  assertReplay(await create(app, broken, key), refused)
})

test('of eight at once with one key one does it, and the others are told to wait or get its answer', async (t) => {
  const app = await buildTestApp(t)
  const responses = await Promise.all(Array.from({ length: 8 }, () => create(app)))
  const first = responses.find(
    ({ statusCode, headers }) => statusCode === 201 && !headers['idempotent-replayed'],
  )
  assert.ok(first)
  for (const response of responses) {
    if (response === first) continue
    if (response.statusCode === 201) assertReplay(response, first)
    else {
      assertProblem(response, 409, 'idempotency_in_flight')
      assert.equal(response.headers['retry-after'], '1')
    }
  }
  assertReplay(await create(app), first)
  assert.equal((await get(app, '/catalog')).headers['x-catalog-revision'], '1')
})

test('the first of two with one key and other bodies wins', async (t) => {
  const app = await buildTestApp(t)
  const names = ['one', 'two']
  await Promise.all(names.map((name) => create(app, { content: skillMd(name) })))
  const { data } = (await get(app, '/skills')).json()
  assert.equal(data.length, 1)
})

test('a key is private to the API key that used it', async (t) => {
  const { app, keys } = await withKeys(t, { ada: ['skills:write'], bob: ['skills:write'] })
  assert.equal((await create(app, content, keys.ada)).statusCode, 201)
  const other = await create(app, { content: skillMd('other') }, keys.bob)
  assert.deepEqual([other.statusCode, other.headers['idempotent-replayed']], [201, undefined])
  assert.equal((await create(app, content, keys.ada)).headers['idempotent-replayed'], 'true')
  assertProblem(
    await create(app, { content: skillMd('other') }, keys.ada),
    422,
    'idempotency_mismatch',
  )
})

test('a malformed key is header_invalid, and nothing is written', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('there'))
  for (const key of ['', ' ', 'a b', 'ü', 'a\tb', 'x'.repeat(256)]) {
    const headers = { 'idempotency-key': key }
    for (const response of [
      await post(app, '/skills', content, headers),
      await post(app, '/skills?dry_run=true', content, headers),
      await post(app, '/skills/validate', content, headers),
      await put(app, 'greet', skillMd('greet'), headers),
      await patch(app, 'there', { license: 'MIT' }, headers),
      await patch(app, 'there', { enabled: false }, headers),
    ]) {
      assertProblem(response, 400, 'header_invalid')
    }
  }
  assert.equal((await get(app, '/catalog')).headers['x-catalog-revision'], '1')
  const longest = { 'idempotency-key': '~'.repeat(255) }
  assert.equal((await post(app, '/skills', content, longest)).statusCode, 201)
})

test('a request that does not fit its schema takes no key', async (t) => {
  const app = await buildTestApp(t)
  assertProblem(await create(app, { colour: 'red' }), 400, 'body_invalid')
  assert.equal((await create(app)).statusCode, 201)
})
