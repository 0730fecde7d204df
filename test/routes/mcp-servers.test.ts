import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { httpClock } from '../agent/mcp/http-clock.ts'
import { eventually } from '../agent/mcp/open-tools.ts'
import { buildTestApp, type TestApp } from '../build-app.ts'
import { assertProblem, fieldsOf, namesOf, send } from '../requests.ts'

interface Options {
  allowHosts?: string
  commands?: boolean
}

const openApp = (t: TestContext, { allowHosts = '', commands = false }: Options = {}) =>
  buildTestApp(t, { env: { TOOLS_ALLOW_HOSTS: allowHosts, MCP_COMMANDS: `${commands}` } })

const put = (app: TestApp, name: string, payload: object, headers: Record<string, string> = {}) =>
  send(app, 'PUT', `/mcp-servers/${name}`, { payload, headers })
const get = (app: TestApp, path = '', headers: Record<string, string> = {}) =>
  send(app, 'GET', `/mcp-servers${path}`, { headers })
const remove = (app: TestApp, name: string, headers: Record<string, string> = {}) =>
  send(app, 'DELETE', `/mcp-servers/${name}`, { headers })

const url = 'https://mcp.invalid/mcp'
const token = { authorization: 'Bearer {{env.CLOCK_TOKEN}}' }

test('an MCP server is set up, read, listed and deleted', async (t) => {
  const app = await openApp(t)
  const made = await put(app, 'clock', { url, headers: token, approval: true })
  assert.equal(made.statusCode, 201, made.body)
  assert.equal(made.headers.location, '/api/v1/mcp-servers/clock')
  const { created_at, updated_at, ...rest } = made.json()
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    name: 'clock',
    url,
    headers: token,
    approval: true,
    status: 'connecting',
    error: null,
    tools: [],
    left_out: [],
    tools_hash: null,
    accepted_tools: null,
  })
  const read = await get(app, '/clock')
  assert.equal(read.statusCode, 200)
  assert.equal(read.headers.etag, made.headers.etag)
  assert.deepEqual(namesOf(await get(app)), ['clock'])

  assert.equal((await remove(app, 'clock')).statusCode, 204)
  assertProblem(await remove(app, 'clock'), 404, 'mcp_server_not_found')
  assert.deepEqual(namesOf(await get(app)), [])
})

test('writes keep to their preconditions and to their idempotency keys', async (t) => {
  const app = await openApp(t)
  const absent = { 'if-none-match': '*' }
  const key = { 'idempotency-key': 'k1' }
  const made = await put(app, 'clock', { url }, { ...absent, ...key })
  assert.equal(made.statusCode, 201)
  const again = await put(app, 'clock', { url }, { ...absent, ...key })
  assert.deepEqual([again.statusCode, again.body], [201, made.body])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assertProblem(await put(app, 'clock', { url }, absent), 412, 'version_conflict')

  const etag = String(made.headers.etag)
  const same = await put(app, 'clock', { url }, { 'if-match': etag })
  assert.deepEqual([same.statusCode, same.headers.etag], [200, etag])
  const other = await put(app, 'clock', { url, approval: true }, { 'if-match': etag })
  assert.equal(other.statusCode, 200)
  assert.notEqual(other.headers.etag, etag)
  assertProblem(await put(app, 'clock', { url }, { 'if-match': etag }), 412, 'version_conflict')
  assertProblem(await remove(app, 'clock', { 'if-match': etag }), 412, 'version_conflict')
})

test('a read is answered though the ETag is known, for the status may have changed', async (t) => {
  const app = await openApp(t)
  const { headers } = await put(app, 'clock', { url })
  const read = await get(app, '/clock', { 'if-none-match': String(headers.etag) })
  assert.equal(read.statusCode, 200)
})

test('an unknown name is answered with the nearest ones', async (t) => {
  const app = await openApp(t)
  await put(app, 'clock', { url })
  const problem = assertProblem(await get(app, '/clokc'), 404, 'mcp_server_not_found')
  assert.deepEqual(problem.suggestions, ['clock'])
  for (const name of ['constructor', '__proto__', 'A.B', 'x'.repeat(500)]) {
    assertProblem(await get(app, `/${name}`), 404, 'mcp_server_not_found')
    assertProblem(await remove(app, name), 404, 'mcp_server_not_found')
    if (name !== 'constructor') assertProblem(await put(app, name, { url }), 422, 'name_invalid')
  }
})

const run = { command: 'node', args: ['clock.js'] }
const literal = { 'x-api-key': 'abc123' }
const refused: [what: string, body: object, status: number, code: string, field: string][] = [
  ['without url and command', {}, 400, 'body_invalid', '/url'],
  ['with an unknown member', { url, sse: true }, 400, 'body_invalid', '/sse'],
  ['with a command beside the url', { url, ...run }, 400, 'body_invalid', '/command'],
  ['with env beside the url', { url, env: {} }, 400, 'body_invalid', '/env'],
  ['with headers beside the command', { ...run, headers: {} }, 400, 'body_invalid', '/headers'],
  ['on this machine', { url: 'http://127.0.0.1:1/mcp' }, 422, 'url_forbidden', '/url'],
  ['on no address', { url: 'http://[::ffff:7f00:1]/' }, 422, 'url_forbidden', '/url'],
  ['with another scheme', { url: 'file:///etc/passwd' }, 422, 'url_forbidden', '/url'],
  ['that is no URL', { url: 'clock' }, 422, 'url_forbidden', '/url'],
  ['with a key in the URL', { url: `${url}?api_key=abc` }, 422, 'secret_forbidden', '/url'],
  ['with a key', { url, headers: literal }, 422, 'secret_forbidden', '/headers/x-api-key'],
  [
    'with a setting of the service',
    { url, headers: { a: '{{env.ADMIN_KEY}}' } },
    422,
    'secret_forbidden',
    '/headers/a',
  ],
  ['with a template', { url, headers: { a: '{{input.x}}' } }, 400, 'body_invalid', '/headers/a'],
  ['with a line end', { url, headers: { a: 'b\r\nc: d' } }, 400, 'body_invalid', '/headers/a'],
  ['with a host', { url, headers: { Host: 'a' } }, 400, 'body_invalid', '/headers/Host'],
  ['with an odd header', { url, headers: { 'a b': 'c' } }, 400, 'body_invalid', '/headers/a b'],
  ['with no value to keep', { url, headers: { a: '***' } }, 400, 'body_invalid', '/headers/a'],
  ['with an odd hash', { url, accepted_tools: 'all' }, 400, 'body_invalid', '/accepted_tools'],
  ['to be run', run, 422, 'mcp_commands_off', '/command'],
]
for (const [what, body, status, code, field] of refused) {
  test(`an MCP server ${what} is refused`, async (t) => {
    const app = await openApp(t, { commands: code === 'body_invalid' })
    const problem = assertProblem(await put(app, 'clock', body), status, code)
    assert.ok(fieldsOf(problem)?.includes(field), JSON.stringify(problem))
    assert.ok(!JSON.stringify(problem).includes('abc123'))
    assert.deepEqual(namesOf(await get(app)), [])
  })
}

test('values that hold no reference are kept, and not shown', async (t) => {
  const app = await openApp(t, { commands: true })
  const command = { command: 'no-such-command-anywhere', args: ['--quiet'] }
  const env = { ZONE: 'Europe/Rome', CLOCK_TOKEN: '{{env.CLOCK_TOKEN}}' }
  const made = await put(app, 'clock', { ...command, env })
  assert.equal(made.statusCode, 201, made.body)
  const shown = { ZONE: '***', CLOCK_TOKEN: '{{env.CLOCK_TOKEN}}' }
  assert.deepEqual(made.json().env, shown)
  const again = await put(app, 'clock', { ...command, env: shown })
  assert.deepEqual([again.statusCode, again.headers.etag], [200, made.headers.etag])
  assert.ok(!again.body.includes('Rome'))
})

test('a changed tool list is shown, and accepted by its hash', async (t) => {
  const clock = await httpClock(t)
  const app = await openApp(t, { allowHosts: '127.0.0.1' })
  assert.equal((await put(app, 'clock', { url: clock.url })).statusCode, 201)
  const read = async (status: string) =>
    eventually(async () => {
      const now = (await get(app, '/clock')).json()
      assert.equal(now.status, status)
      assert.notEqual(now.accepted_tools, null)
      return now
    })
  const first = await read('connected')
  assert.equal(first.tools_hash, first.accepted_tools)
  assert.ok(first.tools.includes('mcp__clock__get_current_time'))

  clock.state.alarm = true
  await clock.stop()
  await clock.start()
  await put(app, 'clock', { url: clock.url, headers: { 'x-again': '1' } })
  const changed = await read('changed')
  assert.equal(changed.accepted_tools, first.tools_hash)
  assert.ok(changed.tools.includes('mcp__clock__set_alarm'))
  const accepted = await put(app, 'clock', {
    url: clock.url,
    headers: changed.headers,
    accepted_tools: changed.tools_hash,
  })
  assert.deepEqual([accepted.statusCode, accepted.json().status], [200, 'connected'])

  const elsewhere = await put(app, 'clock', { url })
  assert.equal(elsewhere.json().accepted_tools, null)
})

test('pages of MCP servers follow each other by name', async (t) => {
  const app = await openApp(t)
  for (const name of ['c', 'a', 'b']) await put(app, name, { url })
  const first = await get(app, '?limit=2')
  assert.deepEqual(namesOf(first), ['a', 'b'])
  const second = await get(app, `?limit=2&cursor=${first.json().next_cursor}`)
  assert.deepEqual([namesOf(second), second.json().next_cursor], [['c'], null])
  assertProblem(await get(app, '?cursor=x'), 400, 'cursor_invalid')
  assertProblem(await get(app, '?page=2'), 400, 'query_invalid')
})
