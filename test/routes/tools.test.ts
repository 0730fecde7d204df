import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildTestApp, get, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { assertProblem, fieldsOf, namesOf, send } from '../requests.ts'
import { temporaryFolder } from '../store/databases.ts'

const BASE = '/tools'

const open = async (t: TestContext, more: Record<string, string> = {}) =>
  buildTestApp(t, { env: { TOOLS_ALLOW_HOSTS: 'shop.internal:8080', ...more } })

const ORDER = {
  description: 'Looks an order up.',
  input_schema: {
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  },
  request: {
    method: 'GET',
    url: 'https://shop.example/orders/{{input.id}}?key={{env.SHOP_KEY}}',
    headers: { authorization: 'Bearer {{env.SHOP_TOKEN}}' },
  },
}
const POST = {
  ...ORDER,
  request: { ...ORDER.request, method: 'POST', body: { a: '{{input.id}}' } },
}

const put = (app: TestApp, name: string, payload: object, headers: Record<string, string> = {}) =>
  send(app, 'PUT', `${BASE}/${name}`, { payload, headers })
const withUrl = (url: string) => ({ ...ORDER, request: { method: 'GET', url } })

test('a tool is set up, read, changed and deleted', async (t) => {
  const app = await open(t)
  const created = await put(app, 'get_order', ORDER)
  assert.equal(created.statusCode, 201, created.body)
  assert.equal(created.headers.location, `/api/v1${BASE}/get_order`)
  const { created_at, updated_at, ...tool } = created.json()
  assert.deepEqual(tool, {
    name: 'get_order',
    ...ORDER,
    source: 'http',
    request: { ...ORDER.request, body: null },
    timeout_ms: 30_000,
    approval: false,
    idempotent: true,
  })
  assert.equal(created_at, updated_at)

  const read = await get(app, `${BASE}/get_order`)
  assert.deepEqual(read.json(), created.json())
  assert.equal(read.headers.etag, created.headers.etag)
  const known = { 'if-none-match': String(read.headers.etag) }
  assert.equal((await get(app, `${BASE}/get_order`, known)).statusCode, 304)

  const changed = await put(app, 'get_order', { ...POST, timeout_ms: 1, approval: true })
  assert.equal(changed.statusCode, 200)
  assert.notEqual(changed.headers.etag, created.headers.etag)
  const { approval, idempotent, timeout_ms, request } = changed.json()
  assert.deepEqual([approval, idempotent, timeout_ms], [true, false, 1])
  assert.deepEqual(request, POST.request)
  const same = await put(app, 'get_order', { ...POST, timeout_ms: 1, approval: true })
  assert.deepEqual([same.statusCode, same.headers.etag], [200, changed.headers.etag])

  const removed = await send(app, 'DELETE', `${BASE}/get_order`)
  assert.deepEqual([removed.statusCode, removed.body], [204, ''])
  assertProblem(await get(app, `${BASE}/get_order`), 404, 'tool_not_found')
  assertProblem(await send(app, 'DELETE', `${BASE}/get_order`), 404, 'tool_not_found')
  assert.notEqual((await put(app, 'get_order', ORDER)).headers.etag, created.headers.etag)
})

test('a tool that is not there brings the nearest names', async (t) => {
  const app = await open(t)
  await put(app, 'get-order', ORDER)
  const problem = assertProblem(await get(app, `${BASE}/get-ordr`), 404, 'tool_not_found')
  assert.deepEqual(problem.suggestions, ['get-order'])
  for (const name of ['constructor', '__proto__', 'a%2Fb', 'a%00b', 'x'.repeat(300)]) {
    assertProblem(await get(app, `${BASE}/${name}`), 404, 'tool_not_found')
  }
})

test('preconditions decide over a write', async (t) => {
  const app = await open(t)
  const conflict = (response: Awaited<ReturnType<typeof send>>) =>
    assertProblem(response, 412, 'version_conflict')
  conflict(await put(app, 'a', ORDER, { 'if-match': '*' }))
  const { etag } = (await put(app, 'a', ORDER, { 'if-none-match': '*' })).headers
  const match = { 'if-match': String(etag) }
  conflict(await put(app, 'a', POST, { 'if-none-match': '*' }))
  assert.equal((await put(app, 'a', POST, match)).statusCode, 200)
  conflict(await put(app, 'a', ORDER, match))
  conflict(await send(app, 'DELETE', `${BASE}/a`, { headers: match }))
  assertProblem(await put(app, 'a', ORDER, { 'if-match': 'x' }), 400, 'header_invalid')
  const removed = await send(app, 'DELETE', `${BASE}/a`, { headers: { 'if-match': '*' } })
  assert.equal(removed.statusCode, 204)
})

test('an idempotency key gets the first answer again, a refusal too', async (t) => {
  const app = await open(t)
  const key = { 'idempotency-key': 'k1' }
  const first = await put(app, 'a', ORDER, key)
  await put(app, 'a', POST)
  const again = await put(app, 'a', ORDER, key)
  assert.deepEqual([again.statusCode, again.body], [201, first.body])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal((await get(app, `${BASE}/a`)).json().request.method, 'POST')
  assertProblem(await put(app, 'a', POST, key), 422, 'idempotency_mismatch')

  const refused = { 'idempotency-key': 'k2' }
  for (const replayed of [undefined, 'true']) {
    const response = await put(app, 'b', withUrl('http://localhost/'), refused)
    assert.deepEqual([response.statusCode, response.json().code], [422, 'url_forbidden'])
    assert.equal(response.headers['idempotent-replayed'], replayed)
  }
})

test('the list has the tools of every source, by name and page by page', async (t) => {
  const app = await open(t, { WORKSPACE_DIR: await temporaryFolder(t) })
  for (const name of ['zeta', 'alpha', 'mid', 'Beta']) await put(app, name, ORDER)
  const whole = await get(app, BASE)
  const { data, next_cursor } = whole.json()
  assert.equal(next_cursor, null)
  const named = (source: string) =>
    namesOf(whole).filter((_, index) => data[index].source === source)
  assert.deepEqual(named('http'), ['Beta', 'alpha', 'mid', 'zeta'])
  // bash is there where it can be run.
  const files = named('workspace').filter((name) => name !== 'bash')
  assert.deepEqual(files, ['edit_file', 'glob', 'read_file', 'write_file'])
  const names = namesOf(whole)
  assert.deepEqual(names, names.toSorted())
  assert.deepEqual(Object.keys(data[0]), ['name', 'description', 'input_schema', 'source'])

  for (const limit of [1, 2, 3, 7]) {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = await get(app, `${BASE}?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      seen.push(...namesOf(page))
      cursor = page.json().next_cursor
      if (cursor === null) break
    }
    assert.deepEqual(seen, names)
  }
  assertProblem(await get(app, `${BASE}?cursor=x`), 400, 'cursor_invalid')
  assertProblem(await get(app, `${BASE}?limit=0`), 400, 'query_invalid')
  assertProblem(await get(app, `${BASE}?q=x`), 400, 'query_invalid')
})

test('a tool of another source can be read, and not be deleted', async (t) => {
  const app = await open(t, { WORKSPACE_DIR: await temporaryFolder(t) })
  const read = await get(app, `${BASE}/read_file`)
  assert.deepEqual([read.statusCode, read.json().source], [200, 'workspace'])
  assertProblem(await send(app, 'DELETE', `${BASE}/read_file`), 404, 'tool_not_found')
})

const taken = ['load_skill', 'read_skill_file', 'search_skills', 'bash', 'read_file', 'write_file']
taken.push('edit_file', 'glob', 'mcp__a__b', 'mcp__', 'constructor', 'toString', '__proto__')

test('names that are taken, and such as no tool can have, are refused', async (t) => {
  const app = await open(t)
  for (const name of taken) assertProblem(await put(app, name, ORDER), 422, 'tool_name_taken')
  for (const name of ['a.b', 'a%20b', 'a%2Fb', 'caf%C3%A9', 'a%00', 'x'.repeat(129)]) {
    assertProblem(await put(app, name, ORDER), 422, 'name_invalid')
  }
  assert.equal((await put(app, 'x'.repeat(128), ORDER)).statusCode, 201)
})

const forbidden = [
  'http://127.0.0.1:8123/',
  'http://localhost:8123/{{input.id}}',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://[::ffff:127.0.0.1]/',
  'http://①②⑦.0.0.1/',
  'http://localhost./',
  'http://metadata.google.internal/',
  'http://169.254.169.254/latest/{{input.id}}',
  'http://user:pass@shop.example/',
  'http://{{env.SHOP_USER}}@shop.example/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:1/_x',
  'http:/\\/127.0.0.1/',
  'https://shop.example\\{{input.id}}',
  'https://shop.example/a\\{{input.id}}/b',
  'https://shop.example/{{input.id}}\t./',
  '{{input.url}}',
  '{{input.scheme}}://shop.example/',
  'https://{{input.host}}/',
  'https://{{input.host}}.shop.example/',
  'https://shop.example{{input.path}}',
  'https://shop.example:{{input.port}}/',
  'https://shop.example:80{{input.port}}/',
  'https://{{env.SHOP_HOST}}/',
  'https://shop.example/{{env.SHOP_KEY}}',
  'https:/{{input.x}}/',
  'https:{{input.x}}',
  'shop.internal:8080/',
  'http://shop.internal:8081/',
  'no url',
  '',
]

test('a URL that no request may go to is refused when it is stored', async (t) => {
  const app = await open(t)
  for (const url of forbidden) {
    const problem = assertProblem(await put(app, 'a', withUrl(url)), 422, 'url_forbidden')
    assert.deepEqual(fieldsOf(problem), ['/request/url'], url)
  }
  assertProblem(await get(app, `${BASE}/a`), 404, 'tool_not_found')
  for (const url of [
    'http://shop.internal:8080/{{input.id}}',
    'https://shop.example?q={{input.q}}',
  ]) {
    assert.ok((await put(app, 'a', withUrl(url))).statusCode < 300, url)
  }
})

const own = ['ADMIN_KEY', 'DATABASE_URL', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'HOOK_SECRET']

test('a setting of the service itself cannot be sent by a tool, wherever it stands', async (t) => {
  const app = await open(t)
  const { request } = POST
  for (const name of [...own, 'admin_key']) {
    const places = {
      '/request/url': { ...request, url: `https://shop.example/?k={{env.${name}}}` },
      '/request/headers/x-k': { ...request, headers: { 'x-k': `k {{ env.${name} }}` } },
      '/request/body/deep/0/k': { ...request, body: { deep: [{ k: `{{env.${name}}}` }] } },
      '/request/body': { ...request, body: `k={{env.${name}}}` },
    }
    for (const [field, changed] of Object.entries(places)) {
      const response = await put(app, 'a', { ...POST, request: changed })
      assert.deepEqual(fieldsOf(assertProblem(response, 422, 'secret_forbidden')), [field])
    }
  }
})

const malformed: Record<string, object> = {
  'a member that is not known': { ...ORDER, retries: 3 },
  'a member of the request that is not known': {
    ...ORDER,
    request: { ...ORDER.request, proxy: 'x' },
  },
  'no description': { ...ORDER, description: undefined },
  'a blank description': { ...ORDER, description: ' ' },
  'no request': { ...ORDER, request: undefined },
  'no schema': { ...ORDER, input_schema: undefined },
  'another method': { ...ORDER, request: { ...ORDER.request, method: 'TRACE' } },
  'a header that is no text': { ...ORDER, request: { ...ORDER.request, headers: { a: 1 } } },
  'a header that is the connection’s': {
    ...ORDER,
    request: { ...ORDER.request, headers: { Host: 'x' } },
  },
  'a header whose name is none': {
    ...ORDER,
    request: { ...ORDER.request, headers: { 'a b': 'x' } },
  },
  'a body of a GET': { ...ORDER, request: { ...ORDER.request, body: 'x' } },
  'a template that is not known': withUrl('https://shop.example/{{output.x}}'),
  'a template without a name': withUrl('https://shop.example/{{}}'),
  'a time-out of none': { ...ORDER, timeout_ms: 0 },
  'a time-out that is text': { ...ORDER, timeout_ms: '30' },
}

test('a body that is no tool is refused', async (t) => {
  const app = await open(t)
  for (const [title, body] of Object.entries(malformed)) {
    const response = await put(app, 'a', body)
    assert.equal(response.statusCode, 400, title)
    assertProblem(response, 400, 'body_invalid')
  }
})

test('a tool is refused that is too large to be read at every step', async (t) => {
  const body = { text: 'x'.repeat(257 * 1024) }
  const response = await put(await open(t), 'a', { ...POST, request: { ...POST.request, body } })
  assert.match(assertProblem(response, 413, 'body_too_large').detail, /of 262144 allowed/)
})

const schemas: object[] = [
  {},
  { type: 'string' },
  { type: 'object', properties: { a: { type: 'nothing' } } },
  { type: 'object', properties: { a: { $ref: 'https://elsewhere.example/schema' } } },
  { type: 'object', properties: { a: { pattern: '(' } } },
]

test('a schema that is none is refused', async (t) => {
  const app = await open(t)
  for (const input_schema of schemas) {
    assertProblem(await put(app, 'a', { ...ORDER, input_schema }), 422, 'tool_schema_invalid')
  }
})

test('to read tools takes the scope chat, to write them admin', async (t) => {
  const { app, keys } = await withKeys(t, {
    chat: ['chat'],
    write: ['skills:read', 'skills:write'],
    admin: ['admin'],
  })
  for (const key of [keys.chat, keys.write]) {
    assertProblem(await put(app, 'a', ORDER, key), 403, 'insufficient_scope')
    const removed = await send(app, 'DELETE', `${BASE}/a`, { headers: key })
    assertProblem(removed, 403, 'insufficient_scope')
  }
  assert.equal((await put(app, 'a', ORDER, keys.admin)).statusCode, 201)
  for (const path of [BASE, `${BASE}/a`]) {
    assert.equal((await get(app, path, keys.chat)).statusCode, 200)
    assertProblem(await get(app, path, keys.write), 403, 'insufficient_scope')
    assertProblem(await get(app, path), 401, 'unauthenticated')
  }
})
