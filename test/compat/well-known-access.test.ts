import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildTestApp, publish, skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'

const ADMIN_KEY = 'an-admin-key-of-a-test'
const key = { 'x-api-key': ADMIN_KEY }

const PATHS = [
  '/.well-known/agent-skills/index.json',
  '/.well-known/skills/index.json',
  '/.well-known/agent-skills/greet/SKILL.md',
  '/agents/default/.well-known/agent-skills/index.json',
  '/tags/any/.well-known/skills/index.json',
]

async function withOne(t: TestContext, env: Record<string, string>): Promise<TestApp> {
  const app = await buildTestApp(t, { env })
  const headers = { 'content-type': 'text/markdown', ...key }
  const url = '/api/v1/skills'
  const stored = await app.inject({ method: 'POST', url, headers, payload: skillMd('greet') })
  assert.equal(stored.statusCode, 201)
  return app
}

const open = {
  'with AUTH=open anybody may read': {},
  'WELL_KNOWN=public lets anybody read where all else asks for keys': {
    ADMIN_KEY,
    WELL_KNOWN: 'public',
  },
}
for (const [name, env] of Object.entries(open)) {
  test(`${name}, web pages too`, async (t) => {
    const app = await withOne(t, env)
    for (const url of PATHS) {
      const { statusCode, headers } = await app.inject({ url })
      assert.equal(statusCode, 200, url)
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.equal(headers['cache-control'], 'public, max-age=60')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['request-id'], headers['x-request-id'])
    }
  })
}

test('with keys a key is asked for, and no other page may look on', async (t) => {
  const app = await withOne(t, { ADMIN_KEY })
  for (const url of PATHS) {
    const refused = await app.inject({ url })
    assert.equal(refused.statusCode, 401, url)
    assert.equal(refused.headers['www-authenticate'], 'Bearer')
    assert.equal(refused.headers['access-control-allow-origin'], undefined)
    assert.equal(refused.headers['cache-control'], undefined)
    assert.equal(refused.headers['request-id'], refused.headers['x-request-id'])
    assert.match(String(refused.headers['content-type']), /^application\/json/)
    assert.equal(refused.json().error.code, 'invalid_api_key')
    const { statusCode, headers } = await app.inject({ url, headers: key })
    assert.equal(statusCode, 200, url)
    assert.equal(headers['cache-control'], 'private, max-age=60')
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

test('a key needs the scope to read skills', async (t) => {
  const { app, keys } = await withKeys(t, { reader: ['skills:read'], talker: ['chat'] })
  const url = '/.well-known/agent-skills/index.json'
  assert.equal((await app.inject({ url, headers: keys.reader })).statusCode, 200)
  const refused = await app.inject({ url, headers: keys.talker })
  assert.deepEqual([refused.statusCode, refused.json().error.code], [403, 'insufficient_scope'])
})

test('WELL_KNOWN=off takes it all away, and WELL_KNOWN=keys no key where none is asked for', async (t) => {
  const off = await withOne(t, { WELL_KNOWN: 'off' })
  for (const url of PATHS) assert.equal((await off.inject({ url })).statusCode, 404, url)
  const app = await buildTestApp(t, { env: { WELL_KNOWN: 'keys' } })
  await publish(app, skillMd('greet'))
  const { statusCode, headers } = await app.inject({ url: PATHS[0] ?? '' })
  assert.equal(statusCode, 200)
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('a wrong WELL_KNOWN stops the start', async (t) => {
  await assert.rejects(buildTestApp(t, { env: { WELL_KNOWN: 'maybe' } }), /WELL_KNOWN/)
})
