import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../agent/talk.ts'
import { buildTestApp, chat, get, publish, skillMd } from '../build-app.ts'

const schema = (input_schema: object) => ({
  message: 'Hi',
  tools: [{ name: 'mine', input_schema }],
})
const object = (more: object) => schema({ type: 'object', ...more })
const user = (content: unknown) => ({ role: 'user', content })
const properties = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`p${at}`, {}]))

test('what is refused is told by its code, and nothing of it is stored', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const [what, body, status, code] of [
    ['nothing said', {}, 400, 'body_invalid'],
    ['a blank message', { message: ' \n' }, 400, 'body_invalid'],
    ['a message beside messages', { message: 'Hi', messages: [user('Hi')] }, 400, 'body_invalid'],
    ['no messages', { messages: [] }, 400, 'body_invalid'],
    ['a message without parts', { messages: [user([])] }, 400, 'body_invalid'],
    ['a blank part', { messages: [user([{ type: 'text', text: ' ' }])] }, 400, 'body_invalid'],
    [
      'a part with an option',
      { messages: [user([{ type: 'text', text: 'a', providerOptions: {} }])] },
      400,
      'body_invalid',
    ],
    ['a system message', { messages: [{ role: 'system', content: 'Hi' }] }, 400, 'body_invalid'],
    [
      'a last word that is the model’s',
      { messages: [user('Hi'), { role: 'assistant', content: 'Hi' }] },
      400,
      'body_invalid',
    ],
    [
      'a first word that is the model’s',
      { messages: [{ role: 'assistant', content: 'Hi' }, user('Hi')] },
      400,
      'body_invalid',
    ],
    ['an unknown property', { message: 'Hi', modle: 'x' }, 400, 'body_invalid'],
    ['text for a number', { message: 'Hi', max_steps: '3' }, 400, 'body_invalid'],
    ['no steps', { message: 'Hi', max_steps: 0 }, 400, 'body_invalid'],
    ['half a step', { message: 'Hi', max_steps: 2.5 }, 400, 'body_invalid'],
    ['too hot', { message: 'Hi', temperature: 2.1 }, 400, 'body_invalid'],
    ['an unknown mode', { message: 'Hi', allowed_tools_mode: 'strict' }, 400, 'body_invalid'],
    [
      'results for no conversation',
      { tool_results: [{ call_id: 'a', output: '' }] },
      400,
      'body_invalid',
    ],
    ['no results', { conversation_id: 'conv_00000001', tool_results: [] }, 400, 'body_invalid'],
    [
      'an output that is no text',
      { conversation_id: 'c', tool_results: [{ call_id: 'a', output: {} }] },
      400,
      'body_invalid',
    ],
    ['half a character', { message: 'Hi \ud800' }, 422, 'lone_surrogate'],
    [
      'an unknown conversation',
      { message: 'Hi', conversation_id: 'conv_zzzzzzzz' },
      404,
      'conversation_not_found',
    ],
    [
      'no id at all',
      { message: 'Hi', conversation_id: '\0'.repeat(100_000) },
      404,
      'conversation_not_found',
    ],
    ['an unknown agent', { message: 'Hi', agent: 'other' }, 404, 'agent_not_found'],
    ['an unknown model', { message: 'Hi', model: 'gpt' }, 422, 'model_invalid'],
    ['a model without its key', { message: 'Hi', model: 'openai/gpt' }, 422, 'model_invalid'],
    [
      'an unknown preload',
      { message: 'Hi', skills: { preload: ['gret'] } },
      404,
      'skill_not_found',
    ],
    ['a path as preload', { message: 'Hi', skills: { preload: ['../x'] } }, 404, 'skill_not_found'],
    [
      '__proto__ as preload',
      { message: 'Hi', skills: { preload: ['__proto__'] } },
      404,
      'skill_not_found',
    ],
    [
      '17 preloads',
      { message: 'Hi', skills: { preload: Array(17).fill('greet') } },
      400,
      'body_invalid',
    ],
    [
      'a tool named load_skill',
      { message: 'Hi', tools: [tool('load_skill')] },
      422,
      'tool_name_taken',
    ],
    [
      'a tool named read_skill_file',
      { message: 'Hi', tools: [tool('read_skill_file')] },
      422,
      'tool_name_taken',
    ],
    [
      'a tool named search_skills',
      { message: 'Hi', tools: [tool('search_skills')] },
      422,
      'tool_name_taken',
    ],
    [
      'two tools of one name',
      { message: 'Hi', tools: [tool('a'), tool('a')] },
      422,
      'tool_name_taken',
    ],
    [
      'a tool named constructor',
      { message: 'Hi', tools: [tool('constructor')] },
      422,
      'tool_name_taken',
    ],
    [
      'a tool with a blank in its name',
      { message: 'Hi', tools: [tool('a b')] },
      400,
      'body_invalid',
    ],
    ['a tool without a schema', { message: 'Hi', tools: [{ name: 'a' }] }, 400, 'body_invalid'],
    ['a schema of a string', schema({ type: 'string' }), 422, 'tool_schema_invalid'],
    ['a schema of anything', schema({}), 422, 'tool_schema_invalid'],
    [
      'a schema that is none',
      object({ properties: { a: { type: 'strnig' } } }),
      422,
      'tool_schema_invalid',
    ],
    ['properties that are none', object({ properties: null }), 422, 'tool_schema_invalid'],
    [
      'a pattern that is none',
      object({ properties: { a: { pattern: '(' } } }),
      422,
      'tool_schema_invalid',
    ],
    [
      'a remote reference',
      object({ properties: { a: { $ref: 'https://example.com/x.json' } } }),
      422,
      'tool_schema_invalid',
    ],
    ['a reference to a file', object({ $ref: 'file:///etc/passwd' }), 422, 'tool_schema_invalid'],
    ['a reference to nothing', object({ $ref: '#/$defs/a' }), 422, 'tool_schema_invalid'],
    ['a schema without measure', object({ properties }), 422, 'tool_schema_invalid'],
  ] as const) {
    await t.test(what, async () => {
      const response = await chat(app, body)
      assert.equal(response.statusCode, status, response.body)
      assert.equal(response.json().code, code)
      assert.ok(response.body.length < 1000, 'nothing long is sent back')
      assert.deepEqual((await get(app, '/conversations')).json().data, [])
    })
  }
})

test('an unknown preload brings the nearest names', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const response = await chat(app, { message: 'Hi', skills: { preload: ['gret'] } })
  assert.deepEqual(response.json().suggestions, ['greet'])
})

test('a body that is no JSON is 415, 400 for what cannot be read', async (t) => {
  const app = await buildTestApp(t)
  const url = '/api/v1/chat'
  for (const [type, payload, status] of [
    ['text/plain', 'Hi', 415],
    ['application/json', '{', 400],
    ['application/json', '', 400],
    ['application/json', '{"message":"Hi","__proto__":{}}', 400],
    ['application/json', `{"message":"Hi","tools":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400],
  ] as const) {
    const headers = { 'content-type': type }
    const response = await app.inject({ method: 'POST', url, headers, payload })
    assert.equal(response.statusCode, status, response.body)
  }
})
