import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { buildTestApp, get, publish, put, skillMd } from '../build-app.ts'
import { assertProblem, patch, remove, send } from '../requests.ts'
import { tempFolder } from '../temp-folder.ts'
import { withKeys } from './with-keys.ts'

const ADMIN_KEY = 'an-admin-key-of-a-test'

test('without a key set on a loopback address everything is open', async (t) => {
  const app = await buildTestApp(t)
  assert.equal((await publish(app, skillMd('greet'))).statusCode, 201)
  assert.equal((await get(app, '/skills')).statusCode, 200)
})

const hosts = {
  localhost: true,
  'localhost:3000': true,
  'LOCALHOST:3000': true,
  '127.0.0.1:3000': true,
  '127.1.2.3': true,
  '[::1]:3000': true,
  'my.localhost': true,
  'evil.example': false,
  'evil.example:3000': false,
  'localhost.evil.example': false,
  '127.0.0.1.evil.example': false,
  '10.0.0.1:3000': false,
  '127.0.0.1@evil.example': false,
  '[::2]': false,
}

test('open, only a request to a loopback name is answered', async (t) => {
  const app = await buildTestApp(t)
  for (const [host, allowed] of Object.entries(hosts)) {
    for (const path of ['/skills', '/nothing']) {
      const response = await get(app, path, { host })
      assert.equal(response.statusCode !== 403, allowed, host)
      if (!allowed) assertProblem(response, 403, 'origin_forbidden')
    }
  }
})

test('open, a web page of another origin is refused, whatever it asks', async (t) => {
  const app = await buildTestApp(t)
  for (const origin of [
    'https://evil.example',
    'http://localhost.evil.example',
    'null',
    'http://127.0.0.1.evil.example:80',
    'file://',
    'http://10.0.0.1',
    '',
  ]) {
    assertProblem(await get(app, '/skills', { origin }), 403, 'origin_forbidden')
    assertProblem(await put(app, 'greet', skillMd('greet'), { origin }), 403, 'origin_forbidden')
    assertProblem(await remove(app, 'greet', { origin }), 403, 'origin_forbidden')
    assertProblem(
      await send(app, 'OPTIONS', '/skills', { headers: { origin } }),
      403,
      'origin_forbidden',
    )
  }
  for (const origin of [
    'http://localhost:3000',
    'http://127.0.0.1:8080',
    'https://localhost',
    'http://[::1]:3000',
  ]) {
    assert.equal((await get(app, '/skills', { origin })).statusCode, 200, origin)
  }
})

test('with keys neither host nor origin matters', async (t) => {
  const app = await buildTestApp(t, { env: { ADMIN_KEY } })
  const headers = { host: 'skills.example', origin: 'https://app.example', 'x-api-key': ADMIN_KEY }
  assert.equal((await get(app, '/skills', headers)).statusCode, 200)
})

test('every reason not to take a key has the same body', async (t) => {
  const { app, keys } = await withKeys(t, { old: ['admin'] }, '2020-01-01T00:00:00.000Z')
  const bodies = new Set<string>()
  for (const headers of [
    {},
    { 'x-api-key': '' },
    { 'x-api-key': 'wrong' },
    { 'x-api-key': 'x'.repeat(5000) },
    { 'x-api-key': 'ü' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer wrong' },
    { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
    { authorization: 'Bearer a b' },
    keys.old,
  ]) {
    for (const path of [
      '/skills',
      '/skills/greet',
      '/catalog',
      '/skills?limit=0',
      '/conversations',
    ]) {
      const response = await app.inject({ url: `/api/v1${path}`, headers })
      const { request_id, ...problem } = assertProblem(response, 401, 'unauthenticated')
      assert.ok(request_id)
      bodies.add(JSON.stringify(problem))
    }
  }
  assert.equal(bodies.size, 1)
})

test('a key is taken as a bearer token and as x-api-key', async (t) => {
  const app = await buildTestApp(t, { env: { ADMIN_KEY } })
  for (const headers of [
    { authorization: `Bearer ${ADMIN_KEY}` },
    { authorization: `bearer  ${ADMIN_KEY}` },
    { 'x-api-key': ADMIN_KEY },
  ] as Record<string, string>[]) {
    assert.equal((await get(app, '/skills', headers)).statusCode, 200)
  }
})

test('a key does what its scopes say, and a refusal names the scope', async (t) => {
  const { app, keys } = await withKeys(t, {
    reader: ['skills:read'],
    writer: ['skills:write'],
    talker: ['chat'],
    admin: ['admin'],
    nobody: [],
  })
  await put(app, 'greet', skillMd('greet'), keys.admin)
  const calls = {
    'skills:read': [
      (key: Record<string, string>) => get(app, '/skills', key),
      (key: Record<string, string>) => get(app, '/skills/greet', key),
      (key: Record<string, string>) => get(app, '/skills/greet/versions/1/content', key),
      (key: Record<string, string>) => get(app, '/catalog', key),
      (key: Record<string, string>) => send(app, 'HEAD', '/skills', { headers: key }),
    ],
    'skills:write': [
      (key: Record<string, string>) => put(app, 'greet', skillMd('greet'), key),
      (key: Record<string, string>) => patch(app, 'greet', { enabled: true }, key),
      (key: Record<string, string>) => remove(app, 'greet/versions/9', key),
      (key: Record<string, string>) =>
        send(app, 'POST', '/skills/validate', { payload: { content: 'x' }, headers: key }),
    ],
    chat: [(key: Record<string, string>) => get(app, '/conversations', key)],
  }
  for (const [scope, requests] of Object.entries(calls)) {
    for (const request of requests) {
      for (const [name, key] of Object.entries(keys)) {
        const allowed =
          name === 'admin' ||
          { reader: 'skills:read', writer: 'skills:write', talker: 'chat' }[name] === scope
        const response = await request(key)
        if (allowed) assert.ok(![401, 403].includes(response.statusCode), `${scope} ${name}`)
        else if (response.body === '') assert.equal(response.statusCode, 403)
        else {
          const problem = assertProblem(response, 403, 'insufficient_scope')
          assert.match(problem.detail, new RegExp(`"${scope}"`))
        }
      }
    }
  }
})

test('a key that expires later is taken', async (t) => {
  const later = new Date(Date.now() + 60_000).toISOString()
  const { app, keys } = await withKeys(t, { ada: ['skills:read'] }, later)
  assert.equal((await get(app, '/skills', keys.ada)).statusCode, 200)
})

test('nothing is written without the scope, nor its body read', async (t) => {
  const { app, keys } = await withKeys(t, { reader: ['skills:read'] })
  assertProblem(await put(app, 'greet', skillMd('greet'), keys.reader), 403, 'insufficient_scope')
  assertProblem(await put(app, 'greet', 'broken'), 401, 'unauthenticated')
  assertProblem(await get(app, '/skills/greet', keys.reader), 404, 'skill_not_found')
})

test('the first start with keys makes an admin key, in a file for its owner alone', async (t) => {
  const folder = await tempFolder(t)
  const env = { AUTH: 'keys', DATABASE_URL: `sqlite:${join(folder, 'skills.db')}` }
  const first = await buildTestApp(t, { env })
  const path = join(folder, 'admin-key')
  const key = (await readFile(path, 'utf8')).trim()
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await put(first, 'greet', skillMd('greet'), headers)).statusCode, 201)
  await first.close()

  const second = await buildTestApp(t, { env })
  assert.equal((await readFile(path, 'utf8')).trim(), key)
  assert.equal((await get(second, '/skills/greet', headers)).statusCode, 200)
})

test('AUTH=open on an address that others reach stops the start, unless it is asked for', async (t) => {
  const open = (env: Record<string, string>) => buildTestApp(t, { env: { AUTH: 'open', ...env } })
  await assert.rejects(open({ HOST: '0.0.0.0' }), /AUTH must be keys/)
  assert.ok(await open({ HOST: '0.0.0.0', AUTH_OPEN_ANYWAY: 'true' }))
})

test('an admin key is 16 to 256 visible characters', () => {
  for (const key of ['short', 'x'.repeat(257), 'with a blank in it', 'ümläute-are-not-visible']) {
    assert.throws(() => readConfig({ ADMIN_KEY: key }), /ADMIN_KEY/)
  }
})
