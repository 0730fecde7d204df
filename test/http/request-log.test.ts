import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/open-service.ts'
import { get, publish, skillMd } from '../build-app.ts'

async function logged(t: TestContext, env: Record<string, string> = {}) {
  const text: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void text.push(line) })
  const config = readConfig({
    MODEL: 'offline',
    DATABASE_URL: 'sqlite::memory:',
    SKILLS_DIR: '',
    ...env,
  })
  const { app } = await openService(config, log)
  t.after(() => app.close())
  return {
    app,
    text,
    lines: () =>
      text
        .join('')
        .trim()
        .split('\n')
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ request_id }) => request_id !== undefined),
  }
}

const DEBUG = 20
const INFO = 30

test('each request has one line, with the id that its caller was given', async (t) => {
  const { app, lines } = await logged(t)
  const responses = [
    await publish(app, skillMd('greet')),
    await get(app, '/skills/greet?colour=secret'),
    await get(app, '/skills/greet'),
    await get(app, '/nothing'),
    await app.inject({ method: 'DELETE', url: '/api/v1/skills/greet' }),
  ]
  assert.deepEqual(
    lines().map(({ request_id, level, method, path, status, msg }) => [
      request_id,
      level,
      method,
      path,
      status,
      msg,
    ]),
    [
      [INFO, 'POST', '/api/v1/skills', 201],
      [INFO, 'GET', '/api/v1/skills/greet', 400],
      [DEBUG, 'GET', '/api/v1/skills/greet', 200],
      [INFO, 'GET', '/api/v1/nothing', 404],
      [INFO, 'DELETE', '/api/v1/skills/greet', 204],
    ].map((line, index) => [
      responses[index]?.headers['x-request-id'],
      ...line,
      'request answered',
    ]),
  )
})

test('a bad URL has its line too', async (t) => {
  const { app, lines } = await logged(t)
  const response = await app.inject('/api/v1/skills/%ff')
  assert.deepEqual(
    lines().map(({ request_id, status }) => [request_id, status]),
    [[response.headers['x-request-id'], 400]],
  )
})

test('no line is forged, and no key, query or body is logged', async (t) => {
  const { app, text, lines } = await logged(t, { ADMIN_KEY: 'an-admin-key-of-a-test' })
  const headers = {
    authorization: 'Bearer an-admin-key-of-a-test',
    'x-request-id': 'forged\n{"level":30}',
    'user-agent': 'forged',
  }
  await get(app, '/skills/%0a%7B%22level%22:60%7D?note=secret', headers)
  await app.inject({
    method: 'PUT',
    url: '/api/v1/skills/greet',
    headers,
    payload: { content: 'secret' },
  })
  assert.equal(lines().length, 2)
  assert.equal(text.length, text.join('').trim().split('\n').length)
  assert.doesNotMatch(text.join(''), /secret|an-admin-key|forged/)
  assert.deepEqual(
    lines().map(({ key }) => key),
    ['key_admin', 'key_admin'],
  )
})
