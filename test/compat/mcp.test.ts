import assert from 'node:assert/strict'
import { request } from 'node:http'
import { suite, test } from 'node:test'
import { buildTestApp, publish, put, skillMd } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { patch } from '../requests.ts'
import { answerOf, connectMcp, ERAS, listening, message, sendMcp } from './mcp-wire.ts'

const ADMIN_KEY = 'an-admin-key-of-a-test'
const LIST = message('tools/list')
const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})

for (const era of ERAS) {
  test(`the catalog of now stands in the instructions, ${era}`, async (t) => {
    const app = await buildTestApp(t)
    const instructions = async () => (await connectMcp(t, app, { era })).getInstructions()
    assert.ok(!(await instructions()))
    await publish(app, skillMd('greet'))
    await publish(app, skillMd('secret', 'B', 'disable-model-invocation: true\n'))
    assert.match((await instructions()) ?? '', /^# Skills\n(.*\n)*\n- greet: Says hello.*$/)
    await put(app, 'greet', skillMd('greet').replace('Says hello', 'Waves'))
    assert.match((await instructions()) ?? '', /\n- greet: Waves/)
    await patch(app, 'greet', { enabled: false })
    assert.ok(!(await instructions()))
  })
}

test('the catalog keeps to its budget', async (t) => {
  const app = await buildTestApp(t, { env: { CATALOG_MAX_TOKENS: '60' } })
  for (let n = 0; n < 40; n++) await publish(app, skillMd(`skill-${n}`))
  const text = (await connectMcp(t, app)).getInstructions() ?? ''
  assert.match(text, /\(\d+ more skills: use search_skills to find more\)$/)
  assert.ok(text.split('\n- skill-').length < 20)
})

test('a message that cannot be one is refused with a status, and never harms', async (t) => {
  const app = await buildTestApp(t)
  for (const [payload, status, code] of [
    ['[]', 400, -32600],
    ['[{}]', 400, -32600],
    ['{', 400, -32700],
    ['', 400, -32700],
    ['null', 400, -32700],
    ['"text"', 400, -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400, -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400, -32600],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}', 400, -32600],
    [message('prompts/get').replace('{}', '{"__proto__":1}'), 400, -32700],
    [message('__proto__'), 200, -32601],
    [message('constructor'), 200, -32601],
    [message('tools/call', { name: '../../x', arguments: null }), 200, -32602],
    [message('skills/list', { cursor: 1 }), 200, -32602],
  ] as const) {
    const response = await sendMcp(app, payload)
    assert.equal(response.statusCode, status, payload)
    assert.equal(answerOf(response).error.code, code, payload)
  }
  const deep = await sendMcp(app, message('x').replace('{}', '['.repeat(9999) + ']'.repeat(9999)))
  assert.equal(deep.statusCode, 400)
  assert.equal((await sendMcp(app, LIST)).statusCode, 200)
})

test('a notification is taken, and no other method or media type', async (t) => {
  const app = await buildTestApp(t)
  const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const taken = await sendMcp(app, notification)
  assert.deepEqual([taken.statusCode, taken.body], [202, ''])
  for (const method of ['GET', 'DELETE', 'PUT'] as const) {
    const { statusCode, headers } = await app.inject({ method, url: '/mcp' })
    assert.deepEqual([statusCode, headers.allow], [405, 'POST'])
  }
  const plain = await sendMcp(app, LIST, { 'content-type': 'text/plain' })
  assert.equal(plain.statusCode, 415)
  assert.equal((await sendMcp(app, LIST, { accept: 'text/html' })).statusCode, 406)
})

test('every answer bears the id of its request', async (t) => {
  const app = await buildTestApp(t)
  for (const payload of [LIST, '{', INITIALIZE]) {
    const { headers } = await sendMcp(app, payload)
    assert.match(String(headers['request-id']), /^req_/)
    assert.equal(headers['request-id'], headers['x-request-id'])
  }
})

test('a key is asked for, as Bearer, that may read skills', async (t) => {
  const { app, keys } = await withKeys(t, { reader: ['skills:read'], chatter: ['chat'] })
  const none = await sendMcp(app, LIST)
  assert.deepEqual([none.statusCode, none.headers['www-authenticate']], [401, 'Bearer'])
  assert.equal(answerOf(none).error.data.code, 'unauthenticated')
  const other = await sendMcp(app, LIST, keys.chatter)
  assert.deepEqual([other.statusCode, answerOf(other).error.data.code], [403, 'insufficient_scope'])
  assert.equal((await sendMcp(app, LIST, keys.reader)).statusCode, 200)
  const bearer = { authorization: `Bearer ${keys.reader['x-api-key']}` }
  const client = await connectMcp(t, app, { headers: bearer })
  assert.equal((await client.listTools()).tools.length, 3)
})

const from = (host: string, origin?: string) => ({ host, ...(origin !== undefined && { origin }) })

suite('a request from a web page', () => {
  const cases = {
    'on a loopback address': {
      env: {},
      allowed: [
        from('localhost'),
        from('127.0.0.1:8080'),
        from('[::1]:3000'),
        from('localhost:3000', 'http://localhost:9999'),
        from('localhost', 'https://127.0.0.1'),
      ],
      refused: [
        from('evil.example'),
        from('evil.example:3000', 'http://evil.example:3000'),
        from('localhost.evil.example'),
        from('localhost@evil.example'),
        from('app'),
        from('localhost', 'http://evil.example'),
        from('localhost', 'null'),
        from('localhost', 'file://'),
        from('localhost', ''),
      ],
    },
    'on another address': {
      env: { HOST: '0.0.0.0' },
      allowed: [
        from('skills.example'),
        from('10.0.0.1:3000'),
        from('skills.example', 'https://skills.example'),
        from('skills.example:8080', 'http://skills.example:8080'),
        from('skills.example:80', 'http://skills.example'),
      ],
      refused: [
        from('skills.example', 'https://evil.example'),
        from('skills.example', 'https://skills.example:8443'),
        from('skills.example', 'null'),
        from('skills.example', ''),
      ],
    },
  }
  for (const [where, { env, allowed, refused }] of Object.entries(cases)) {
    test(`is answered ${where} only when it is of the service's own`, async (t) => {
      const app = await buildTestApp(t, { env: { AUTH: 'keys', ADMIN_KEY, ...env } })
      for (const [headers, status] of [
        ...allowed.map((one) => [one, 200] as const),
        ...refused.map((one) => [one, 403] as const),
      ]) {
        const response = await sendMcp(app, LIST, { 'x-api-key': ADMIN_KEY, ...headers })
        assert.equal(response.statusCode, status, JSON.stringify(headers))
        if (status === 403) assert.equal(answerOf(response).error.data.code, 'origin_forbidden')
      }
    })
  }
})

test('a stream of notifications does not hold up the close', async (t) => {
  const app = await buildTestApp(t)
  const url = `${await listening(app)}/mcp`
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const notifications = { toolsListChanged: true }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen',
  }
  const sent = request(url, { method: 'POST', headers })
  sent.end(message('subscriptions/listen', { notifications, _meta: meta }))
  const closed = await new Promise((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (response) => {
      assert.equal(response.statusCode, 200)
      response.once('data', () => void app.close())
      response.on('close', () => resolve(true))
    })
  })
  assert.ok(closed)
})
