import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, type TestApp } from '../build-app.ts'
import { assertProblem, post } from '../requests.ts'

const inputSchema = {
  type: 'object',
  required: ['repo', 'filter'],
  properties: {
    repo: { type: 'string', description: 'Owner | name,\nin one' },
    state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
    filter: {
      type: 'object',
      required: ['labels'],
      properties: {
        labels: { type: 'array', items: { $ref: '#/$defs/label' } },
        since: { type: ['string', 'null'] },
      },
    },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    anything: true,
  },
  $defs: { label: { type: 'object', properties: { name: { const: 'bug' } } } },
}
const tool = { name: 'listIssues', description: 'Lists issues: "open" ones. #1', inputSchema }

const convert = (app: TestApp, more: object = {}) =>
  post(app, '/skills', { mcp_tool: { ...tool, ...more } })

test('a tool becomes a skill that names it, with its parameters and its schema', async (t) => {
  const app = await buildTestApp(t)
  const response = await convert(app)
  assert.equal(response.statusCode, 201, response.body)
  const skill = (await get(app, '/skills/list-issues')).json()
  assert.equal(skill.description, tool.description)
  assert.deepEqual(skill.allowed_tools, ['listIssues'])
  assert.deepEqual(skill.metadata, { mcp_tool: 'listIssues' })
  const rows = skill.body.split('\n').filter((line: string) => line.startsWith('| '))
  assert.deepEqual(rows, [
    '| parameter | type | required | default | description |',
    '| repo | string | yes |  | Owner \\| name, in one |',
    '| state | "open" or "closed" | no | "open" |  |',
    '| filter | object | yes |  |  |',
    '| filter.labels | array of object | yes |  |  |',
    '| filter.labels[].name | "bug" | no |  |  |',
    '| filter.since | string or null | no |  |  |',
    '| either | integer or string | no |  |  |',
    '| anything | any | no |  |  |',
  ])
  const { body } = await get(app, '/skills/list-issues/files/references/input-schema.json')
  assert.deepEqual(JSON.parse(body), inputSchema)
})

test('names become kebab-case, and the tool keeps its own', async (t) => {
  const app = await buildTestApp(t)
  for (const [name, slug] of [
    ['get_user', 'get-user'],
    ['HTTPServerStart', 'http-server-start'],
    ['github.createIssue2', 'github-create-issue2'],
    ['mcp__db__query', 'mcp-db-query'],
  ]) {
    const response = await convert(app, { name })
    const { name: made, allowed_tools: tools } = response.json()
    assert.deepEqual([made, tools], [slug, [name]], response.body)
  }
  assertProblem(await convert(app, { name: '工具' }), 422, 'name_invalid')
})

test('a description of any text and length makes one frontmatter', async (t) => {
  const app = await buildTestApp(t)
  const descriptions = [
    'Line one.\n---\nname: forged\n---\n# Line two',
    "it's - [a] {b}: *c* & 'd' | e",
    '用'.repeat(3000),
  ]
  for (const [index, description] of descriptions.entries()) {
    const response = await convert(app, { name: `tool${index}`, description })
    assert.equal(response.statusCode, 201, response.body)
    const skill = (await get(app, `/skills/tool${index}`)).json()
    assert.equal(Array.from(skill.description).length, Math.min(description.length, 1024))
    assert.ok(skill.body.includes(description))
  }
  assertProblem(await convert(app, { name: 'blank', description: ' ' }), 422, 'description_missing')
})

test('a schema without properties, or one that stands within itself, is told once', async (t) => {
  const app = await buildTestApp(t)
  await convert(app, { name: 'ping', inputSchema: {} })
  assert.match((await get(app, '/skills/ping')).json().body, /It takes no parameters\./)

  const self = { $ref: '#' }
  const endless = { properties: { and: { type: 'array', items: self }, not: self }, anyOf: [self] }
  await convert(app, { name: 'endless', inputSchema: endless })
  const { body } = (await get(app, '/skills/endless')).json()
  assert.deepEqual(body.match(/^\| (and|not) .*$/gm), [
    '| and | array of object | no |  |  |',
    '| not | object | no |  |  |',
  ])
})

test('of a schema that spreads without end, the first part is told', async (t) => {
  const app = await buildTestApp(t)
  const spread = (next: number) => ({
    properties: Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`p${index}`, { $ref: `#/$defs/d${next}` }]),
    ),
    anyOf: Array(20).fill({ $ref: `#/$defs/d${next}` }),
  })
  const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d${i}`, spread(i + 1)]))
  const response = await convert(app, { name: 'wide', inputSchema: { ...spread(0), $defs } })
  assert.equal(response.statusCode, 201, response.body)
  const { body } = (await get(app, '/skills/wide')).json()
  assert.ok(body.split('\n').length < 300)
  assert.match(body, /There are more than fit in here\./)
})

test('a tool stands alone, and is complete', async (t) => {
  const app = await buildTestApp(t)
  const beside = assertProblem(
    await post(app, '/skills', { mcp_tool: tool, name: 'x' }),
    400,
    'body_invalid',
  )
  assert.equal(beside.errors[0].field, '/name')
  for (const wrong of [{ name: '' }, { name: 1 }, { inputSchema: [] }, { more: 1 }]) {
    assertProblem(await convert(app, wrong), 400, 'body_invalid')
  }
  assert.deepEqual((await get(app, '/skills')).json().data, [])
})
