import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { buildTestApp, get } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import {
  addVersion,
  ask,
  assertRefused,
  BETA,
  create,
  fileOf,
  GA,
  OPENAI,
  ok,
  upload,
} from './skills-wire.ts'

test('a family is told by a header alone, with any value', async (t) => {
  const app = await buildTestApp(t)
  for (const headers of [GA, BETA, { 'anthropic-version': '' }, { 'anthropic-beta': 'x' }]) {
    const refused = await ask(app, 'GET', '/skills/x', headers)
    assertRefused(refused, 'anthropic', [404, 'not_found_error', 'not_found'])
  }
  for (const headers of [OPENAI, { 'x-api-key': 'sk-ant-x' }]) {
    const refused = await ask(app, 'GET', '/skills/x', headers)
    assertRefused(refused, 'openai', [404, 'invalid_request_error', 'not_found'])
  }
})

test('a route that is not there is told in the words of the family', async (t) => {
  const app = await buildTestApp(t)
  for (const path of ['/messages', '/responses', '/files', '/x/y', '', '/?a=b']) {
    const anthropic = await ask(app, 'POST', path, GA, {})
    assertRefused(anthropic, 'anthropic', [404, 'not_found_error', 'not_found'])
    const openai = await ask(app, 'GET', path, OPENAI)
    assertRefused(openai, 'openai', [404, 'invalid_request_error', 'not_found'])
  }
  const native = await app.inject('/v1x')
  assert.equal(native.headers['content-type'], 'application/problem+json; charset=utf-8')
})

test('a method that is not taken is 405, also where another family takes it', async (t) => {
  const app = await buildTestApp(t)
  const code = 'method_not_allowed'
  const openai = await ask(app, 'PUT', '/skills', OPENAI)
  assertRefused(openai, 'openai', [405, 'invalid_request_error', code])
  assert.equal(openai.headers.allow, 'GET, HEAD, POST')
  const anthropic = await ask(app, 'POST', '/skills/skill_x', GA, { default_version: '1' })
  assertRefused(anthropic, 'anthropic', [405, 'invalid_request_error', code])
  const path = await ask(app, 'GET', '/skills/%zz', GA)
  assertRefused(path, 'anthropic', [400, 'invalid_request_error', 'request_invalid'])
})

test('what is told to one family the other one sees, and our own routes too', async (t) => {
  const app = await buildTestApp(t)
  const { id } = await create(app, GA, 'greet')
  const before = (await get(app, '/skills/greet')).headers.etag
  await addVersion(app, OPENAI, { id, name: 'greet', body: 'Two.' })
  const skill = await ok(ask(app, 'GET', `/skills/${id}`, OPENAI))
  assert.deepEqual([skill.default_version, skill.latest_version], ['1', '2'])
  assert.notEqual((await get(app, '/skills/greet')).headers.etag, before)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 2)
  await ok(ask(app, 'POST', `/skills/${id}`, OPENAI, { default_version: '2' }))
  const version = await ok(ask(app, 'GET', `/skills/${id}/versions/latest`, GA))
  assert.equal((await ok(ask(app, 'GET', `/skills/${id}`, GA))).latest_version_id, version.id)
})

suite('with an idempotency key', { concurrency: 2 }, () => {
  for (const [family, headers] of [
    ['anthropic', GA],
    ['openai', OPENAI],
  ] as const) {
    test(`a write of ${family} is done once`, async (t) => {
      const app = await buildTestApp(t)
      const key = { ...headers, 'idempotency-key': 'one' }
      const first = await upload(app, '/skills', key, [fileOf('greet')])
      const again = await upload(app, '/skills', key, [fileOf('greet')])
      assert.deepEqual([again.statusCode, again.json()], [200, first.json()])
      assert.equal(again.headers['idempotent-replayed'], 'true')

      const { id } = first.json()
      const path = `/skills/${id}/versions`
      const two = { ...headers, 'idempotency-key': 'two' }
      const version = await ok(upload(app, path, two, [fileOf('greet')]))
      assert.deepEqual(await ok(upload(app, path, two, [fileOf('greet')])), version)
      assert.equal((await get(app, '/skills/greet')).json().latest_version, 2)

      const other = await upload(app, '/skills', key, [fileOf('other')])
      assertRefused(other, family, [400, 'invalid_request_error', 'idempotency_mismatch'])
      const bad = { ...headers, 'idempotency-key': 'a b' }
      const malformed = await upload(app, '/skills', bad, [fileOf('other')])
      assertRefused(malformed, family, [400, 'invalid_request_error', 'header_invalid'])
    })

    test(`a refusal of ${family} is kept in its words`, async (t) => {
      const app = await buildTestApp(t)
      await create(app, headers, 'greet')
      const key = { ...headers, 'idempotency-key': 'one' }
      const type = family === 'anthropic' ? 'conflict_error' : 'invalid_request_error'
      const first = await upload(app, '/skills', key, [fileOf('greet')])
      assertRefused(first, family, [409, type, 'skill_exists'])
      const again = await upload(app, '/skills', key, [fileOf('greet')])
      assert.deepEqual([again.statusCode, again.body], [409, first.body])
      assert.equal(again.headers['x-should-retry'], 'false')
    })
  }

  test('a default version is set once', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    await addVersion(app, OPENAI, { id, name: 'greet' })
    const key = { ...OPENAI, 'idempotency-key': 'one' }
    const set = () => ask(app, 'POST', `/skills/${id}`, key, { default_version: '2' })
    await ok(set())
    await ok(ask(app, 'POST', `/skills/${id}`, OPENAI, { default_version: '1' }))
    assert.equal((await ok(set())).default_version, '2')
    assert.equal((await get(app, '/skills/greet')).json().version, 1)
  })
})

test('reading needs the scope to read skills, and writing the one to write them', async (t) => {
  const { app, keys } = await withKeys(t, {
    reader: ['skills:read'],
    writer: ['skills:write'],
    talker: ['chat'],
  })
  const id = (await upload(app, '/skills', { ...GA, ...keys.writer }, [fileOf('greet')])).json().id
  const reads = ['', `/${id}`, `/${id}/versions`, `/${id}/versions/1`, `/${id}/versions/1/content`]
  for (const [family, headers, type] of [
    ['anthropic', GA, 'permission_error'],
    ['openai', OPENAI, 'invalid_request_error'],
  ] as const) {
    const { authorization: _, ...bare } = { authorization: '', ...headers }
    const none = await ask(app, 'GET', '/skills', bare)
    if (family === 'anthropic') {
      assertRefused(none, family, [401, 'authentication_error', 'unauthenticated'])
    } else assertRefused(none, family, [401, 'invalid_request_error', 'invalid_api_key'])
    for (const path of reads) {
      const allowed = await ask(app, 'GET', `/skills${path}`, { ...bare, ...keys.reader })
      assert.equal(allowed.statusCode, 200, path)
      const refused = await ask(app, 'GET', `/skills${path}`, { ...bare, ...keys.talker })
      assertRefused(refused, family, [403, type, 'insufficient_scope'])
    }
    for (const path of ['/skills', `/skills/${id}/versions`]) {
      const refused = await upload(app, path, { ...bare, ...keys.reader }, [fileOf('greet')])
      assertRefused(refused, family, [403, type, 'insufficient_scope'])
    }
    for (const path of [`/skills/${id}`, `/skills/${id}/versions/1`]) {
      const refused = await ask(app, 'DELETE', path, { ...bare, ...keys.reader })
      assertRefused(refused, family, [403, type, 'insufficient_scope'])
    }
    const version = await upload(app, `/skills/${id}/versions`, { ...bare, ...keys.writer }, [
      fileOf('greet'),
    ])
    assert.equal(version.statusCode, 200)
  }
  const bearer = { authorization: `Bearer ${keys.reader['x-api-key']}`, 'x-api-key': 'other' }
  assert.equal((await ask(app, 'GET', '/skills', bearer)).statusCode, 200)
  const versions = (await get(app, '/skills/greet/versions', keys.reader)).json().data
  assert.match(versions[0].by, /^key_/)
})
