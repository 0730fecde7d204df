import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { buildTestApp, get, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { assertProblem, fieldsOf, namesOf, send } from '../requests.ts'

const agentsApp = async (t: TestContext, service?: TestApp): Promise<TestApp> =>
  service ?? buildTestApp(t)

const put = (app: TestApp, name: string, payload: object, headers: Record<string, string> = {}) =>
  send(app, 'PUT', `/agents/${name}`, { payload, headers })
const remove = (app: TestApp, name: string, headers: Record<string, string> = {}) =>
  send(app, 'DELETE', `/agents/${name}`, { headers })

const DEFAULTS = {
  instructions: null,
  model: null,
  skills: { names: null, tags: null },
  tools: ['*'],
  max_steps: 16,
  allowed_tools_mode: null,
  catalog_max_tokens: null,
  approval: [],
  budget: { turn_tokens: null, conversation_tokens: null },
}
const BUILT_IN = { name: 'default', ...DEFAULTS, created_at: null, updated_at: null }

const FULL = {
  instructions: 'Answer in one line.',
  model: 'offline',
  skills: { names: ['code-review'], tags: ['python'] },
  tools: ['get_*', 'mcp__clock__*'],
  max_steps: 3,
  allowed_tools_mode: 'preapprove',
  catalog_max_tokens: 500,
  approval: ['write_file'],
  budget: { turn_tokens: 1000, conversation_tokens: 20_000 },
}

test('the default agent is there before anybody wrote it', async (t) => {
  const app = await agentsApp(t)
  const response = await get(app, '/agents/default')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(response.json(), BUILT_IN)
  assert.equal(response.headers.etag, '"0"')
  assert.deepEqual((await get(app, '/agents')).json(), { data: [BUILT_IN], next_cursor: null })
})

test('an agent is answered as it was put, created and then updated', async (t) => {
  const app = await agentsApp(t)
  const created = await put(app, 'shop', FULL)
  assert.equal(created.statusCode, 201, created.body)
  assert.equal(created.headers.location, '/api/v1/agents/shop')
  const { created_at, updated_at, ...agent } = created.json()
  assert.deepEqual(agent, { name: 'shop', ...FULL })
  assert.match(created_at, /^\d{4}-.*Z$/)
  assert.equal(updated_at, created_at)

  const read = await get(app, '/agents/shop')
  assert.deepEqual(read.json(), created.json())
  assert.equal(read.headers.etag, created.headers.etag)
  const same = await put(app, 'shop', FULL)
  assert.deepEqual([same.statusCode, same.headers.etag], [200, created.headers.etag])
  const updated = await put(app, 'shop', {})
  assert.equal(updated.statusCode, 200)
  assert.notEqual(updated.headers.etag, created.headers.etag)
  assert.equal(updated.json().created_at, created_at)
})

test('what is left out, or null, takes its default', async (t) => {
  const app = await agentsApp(t)
  for (const body of [{}, { skills: {}, budget: {} }, { ...DEFAULTS }]) {
    const { created_at, updated_at, ...agent } = (await put(app, 'a', body)).json()
    assert.deepEqual(agent, { name: 'a', ...DEFAULTS })
  }
  const some = (await put(app, 'a', { tools: [], budget: { turn_tokens: 5 } })).json()
  assert.deepEqual(some.tools, [])
  assert.deepEqual(some.budget, { turn_tokens: 5, conversation_tokens: null })
})

const refused: [what: string, body: object, field: string][] = [
  ['an unknown member', { colour: 'red' }, '/colour'],
  ['an unknown member of skills', { skills: { preload: [] } }, '/skills/preload'],
  ['an unknown member of the budget', { budget: { tokens: 1 } }, '/budget/tokens'],
  ['a number as text', { max_steps: '3' }, '/max_steps'],
  ['no steps', { max_steps: 0 }, '/max_steps'],
  ['too many steps', { max_steps: 1001 }, '/max_steps'],
  ['half a step', { max_steps: 2.5 }, '/max_steps'],
  ['an unknown mode', { allowed_tools_mode: 'allow' }, '/allowed_tools_mode'],
  ['a pattern that is no glob', { tools: ['a.b'] }, '/tools/0'],
  ['an empty glob', { approval: ['*', ''] }, '/approval/1'],
  ['one tool', { tools: '*' }, '/tools'],
  ['a catalog without room', { catalog_max_tokens: 0 }, '/catalog_max_tokens'],
  ['no budget', { budget: { turn_tokens: 0 } }, '/budget/turn_tokens'],
]
for (const [what, body, field] of refused) {
  test(`${what} is refused, and nothing is written`, async (t) => {
    const app = await agentsApp(t)
    const problem = assertProblem(await put(app, 'shop', body), 400, 'body_invalid')
    assert.ok(fieldsOf(problem)?.includes(field), JSON.stringify(problem.errors))
    assertProblem(await get(app, '/agents/shop'), 404, 'agent_not_found')
  })
}

test('a body that is no object is refused', async (t) => {
  const app = await agentsApp(t)
  assertProblem(await put(app, 'shop', []), 400, 'body_invalid')
  assertProblem(await send(app, 'PUT', '/agents/shop'), 400, 'body_invalid')
})

test('an unknown model is refused', async (t) => {
  const app = await agentsApp(t)
  for (const model of ['gpt', 'anthropic/', 'openai/x', 'mistral/x', '']) {
    assertProblem(await put(app, 'shop', { model }), 422, 'model_invalid')
  }
})

test('a name that breaks the rule cannot be written, and is plainly not there', async (t) => {
  const app = await agentsApp(t)
  for (const name of ['Shop', 'a_b', 'a.b', '%C3%A4', 'a%20b', 'a%00b', 'x'.repeat(65)]) {
    assertProblem(await put(app, name, {}), 422, 'name_invalid')
    assertProblem(await get(app, `/agents/${name}`), 404, 'agent_not_found')
    assertProblem(await remove(app, name), 404, 'agent_not_found')
  }
  for (const name of ['a', '0', '-', 'constructor', 'x'.repeat(64)]) {
    assertProblem(await get(app, `/agents/${name}`), 404, 'agent_not_found')
    assert.equal((await put(app, name, {})).statusCode, 201)
  }
})

test('an agent that is not there brings the nearest names', async (t) => {
  const app = await agentsApp(t)
  await put(app, 'code-reviewer', {})
  const problem = assertProblem(await get(app, '/agents/code-review'), 404, 'agent_not_found')
  assert.deepEqual(problem.suggestions, ['code-reviewer'])
  const near = assertProblem(await get(app, '/agents/defualt'), 404, 'agent_not_found')
  assert.deepEqual(near.suggestions, ['default'])
})

test('agents are listed by name, with the default among them, page by page', async (t) => {
  const app = await agentsApp(t)
  for (const name of ['zoo', 'default-2', 'art', 'code']) await put(app, name, {})
  const all = ['art', 'code', 'default', 'default-2', 'zoo']
  assert.deepEqual(namesOf(await get(app, '/agents')), all)
  for (const stored of [false, true]) {
    if (stored) await put(app, 'default', { max_steps: 2 })
    for (const limit of [1, 2, 3, 4, 5]) {
      const walked: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`
        const page = await get(app, `/agents?limit=${limit}${query}`)
        walked.push(...namesOf(page))
        cursor = page.json().next_cursor
      }
      assert.deepEqual(walked, all)
    }
  }
  assertProblem(await get(app, '/agents?cursor=x'), 400, 'cursor_invalid')
  assertProblem(await get(app, '/agents?limit=0'), 400, 'query_invalid')
  assertProblem(await get(app, '/agents?q=x'), 400, 'query_invalid')
})

test('a deleted agent is gone', async (t) => {
  const app = await agentsApp(t)
  await put(app, 'shop', {})
  const removed = await remove(app, 'shop')
  assert.deepEqual([removed.statusCode, removed.body], [204, ''])
  assertProblem(await get(app, '/agents/shop'), 404, 'agent_not_found')
  assertProblem(await remove(app, 'shop'), 404, 'agent_not_found')
})

test('the default agent is written as one that is there, and deleting takes it back', async (t) => {
  const app = await agentsApp(t)
  const written = await put(app, 'default', { instructions: 'Be brief.' })
  assert.equal(written.statusCode, 200)
  assert.equal((await get(app, '/agents/default')).json().instructions, 'Be brief.')
  assert.deepEqual(namesOf(await get(app, '/agents')), ['default'])
  assert.equal((await remove(app, 'default')).statusCode, 204)
  assert.deepEqual((await get(app, '/agents/default')).json(), BUILT_IN)
  assert.equal((await remove(app, 'default')).statusCode, 204)
})

test('preconditions of the default agent hold as if it had been stored', async (t) => {
  const app = await agentsApp(t)
  const change = { max_steps: 2 }
  const conflicts: Record<string, string>[] = [{ 'if-none-match': '*' }, { 'if-match': '"7"' }]
  for (const headers of conflicts) {
    assertProblem(await put(app, 'default', change, headers), 412, 'version_conflict')
    assertProblem(await remove(app, 'default', headers), 412, 'version_conflict')
  }
  assert.equal((await remove(app, 'default', { 'if-match': '"0"' })).statusCode, 204)
  assert.equal((await remove(app, 'default', { 'if-match': '*' })).statusCode, 204)
  const first = await put(app, 'default', change, { 'if-match': '"0"' })
  assert.equal(first.statusCode, 200)
  assertProblem(await put(app, 'default', {}, { 'if-match': '"0"' }), 412, 'version_conflict')
  const etag = String(first.headers.etag)
  assert.equal((await put(app, 'default', {}, { 'if-match': etag })).statusCode, 200)
  assertProblem(await remove(app, 'default', { 'if-match': etag }), 412, 'version_conflict')
  assert.equal((await put(app, 'default', change, { 'if-match': '*' })).statusCode, 200)
  assertProblem(await put(app, 'default', {}, { 'if-none-match': '*' }), 412, 'version_conflict')
})

test('preconditions hold for a write, and 304 answers a read of what is known', async (t) => {
  const app = await agentsApp(t)
  assertProblem(await put(app, 'a', {}, { 'if-match': '*' }), 412, 'version_conflict')
  const created = await put(app, 'a', {}, { 'if-none-match': '*' })
  assert.equal(created.statusCode, 201)
  assertProblem(await put(app, 'a', {}, { 'if-none-match': '*' }), 412, 'version_conflict')
  const etag = String(created.headers.etag)
  assert.equal((await get(app, '/agents/a', { 'if-none-match': etag })).statusCode, 304)
  assert.equal((await put(app, 'a', { max_steps: 2 }, { 'if-match': etag })).statusCode, 200)
  assert.equal((await get(app, '/agents/a', { 'if-none-match': etag })).statusCode, 200)
  assertProblem(await remove(app, 'a', { 'if-match': etag }), 412, 'version_conflict')
  assertProblem(await put(app, 'a', {}, { 'if-match': 'x' }), 400, 'header_invalid')
})

test('a write with an idempotency key is answered again as the first time', async (t) => {
  const app = await agentsApp(t)
  for (const [name, status] of [
    ['shop', 201],
    ['default', 200],
  ] as const) {
    const headers = { 'idempotency-key': `key of ${name}`.replaceAll(' ', '-') }
    const first = await put(app, name, { max_steps: 2 }, headers)
    assert.equal(first.statusCode, status)
    await put(app, name, { max_steps: 3 })
    const again = await put(app, name, { max_steps: 2 }, headers)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.deepEqual([again.statusCode, again.body], [first.statusCode, first.body])
    assert.equal((await get(app, `/agents/${name}`)).json().max_steps, 3)
    assertProblem(await put(app, name, {}, headers), 422, 'idempotency_mismatch')
  }
})

test('agents are read with the scope chat, and written with admin', async (t) => {
  const { app: service, keys } = await withKeys(t, {
    chat: ['chat'],
    skills: ['skills:read', 'skills:write'],
    admin: ['admin'],
  })
  const app = await agentsApp(t, service)
  for (const headers of [keys.chat, keys.skills]) {
    assertProblem(await put(app, 'shop', {}, headers), 403, 'insufficient_scope')
    assertProblem(await remove(app, 'default', headers), 403, 'insufficient_scope')
  }
  for (const path of ['/agents', '/agents/default']) {
    assertProblem(await get(app, path), 401, 'unauthenticated')
    assertProblem(await get(app, path, keys.skills), 403, 'insufficient_scope')
    assert.equal((await get(app, path, keys.chat)).statusCode, 200)
  }
  assert.equal((await put(app, 'shop', {}, keys.admin)).statusCode, 201)
  assert.equal((await remove(app, 'shop', keys.admin)).statusCode, 204)
})
