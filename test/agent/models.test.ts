import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../src/agent/model.ts'
import { forOpenAi } from '../../src/agent/models/openai.ts'
import { anthropic, ask, loadSkill, open, openAi, request, user } from './ask-model.ts'
import { fakeProvider, stream } from './fake-provider.ts'
import {
  anthropicTurn,
  delta,
  finish,
  messageStart,
  messageStop,
  openAiTurn,
  textBlock,
  thinkingBlock,
  toolBlock,
  toolCall,
} from './wire.ts'

const message = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'One moment.' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'load_skill', input: { name: 'greet' } },
  ],
}

const conversation: Message[] = [
  user('Hi'),
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'load_skill', input: { name: 'greet' } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'load_skill',
        output: { type: 'error-text', value: 'There is no such skill.' },
      },
    ],
  },
]

test('Anthropic Messages: text and a call arrive as ours', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(anthropicTurn))
  assert.deepEqual(await ask(anthropic(t, url)), {
    deltas: ['One ', 'moment.'],
    message,
    usage: { inputTokens: 14, outputTokens: 3, cacheReadTokens: 5, cacheWriteTokens: 2 },
    cut: false,
  })
  assert.equal(requests[0]?.url, '/v1/messages')
  assert.equal(requests[0]?.headers['x-api-key'], 'key-4711')
  assert.equal(requests[0]?.body.max_tokens, 8192)
  assert.equal('temperature' in (requests[0]?.body ?? {}), false)
})

test('OpenAI chat completions: text and a call arrive as ours', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(openAiTurn))
  assert.deepEqual(await ask(openAi(t, url), request({ temperature: 0.5 })), {
    deltas: ['One ', 'moment.'],
    message,
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 0 },
    cut: false,
  })
  assert.equal(requests[0]?.url, '/v1/chat/completions')
  assert.equal(requests[0]?.headers.authorization, 'Bearer key-4711')
  assert.equal(requests[0]?.body.max_tokens, 8192)
  assert.equal(requests[0]?.body.temperature, 0.5)
  assert.deepEqual(requests[0]?.body.stream_options, { include_usage: true })
})

test('Anthropic is shown what it may keep in its cache, at four places at most', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(anthropicTurn))
  await ask(anthropic(t, url), request({ messages: conversation, tools: [loadSkill, loadSkill] }))
  const cached = { cache_control: { type: 'ephemeral' } }
  const body = JSON.stringify(requests[0]?.body)
  assert.equal(body.split('cache_control').length - 1, 4)
  assert.deepEqual(requests[0]?.body.system, [{ type: 'text', text: 'Be brief.', ...cached }])
  assert.deepEqual(requests[0]?.body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hi', ...cached }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'tool_use', id: 'c1', name: 'load_skill', input: { name: 'greet' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: 'There is no such skill.',
          is_error: true,
          ...cached,
        },
      ],
    },
  ])
})

test('OpenAI is told in words that a result is an error, and nothing that another signed', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(openAiTurn))
  await ask(openAi(t, url), request({ messages: conversation }))
  assert.deepEqual(requests[0]?.body.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'load_skill', arguments: '{"name":"greet"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Error: There is no such skill.' },
  ])
})

test('a blank system prompt is left out', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(anthropicTurn))
  await ask(anthropic(t, url), request({ system: '\n' }))
  assert.equal(requests[0]?.body.system, undefined)
})

test('reasoning is kept with its signature and not told', async (t) => {
  const events = [
    messageStart,
    ...thinkingBlock(0, 'Hm.', 'signed'),
    ...textBlock(1, 'Yes.'),
    ...messageStop('end_turn'),
  ]
  const { url } = await fakeProvider(t, stream(events))
  const reply = await ask(anthropic(t, url))
  assert.deepEqual(reply.deltas, ['Yes.'])
  assert.deepEqual(reply.message.content, [
    { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'signed' } } },
    { type: 'text', text: 'Yes.' },
  ])
})

test('blank text is not stored beside a call', async (t) => {
  const events = [
    messageStart,
    ...textBlock(0, '\n\n'),
    ...toolBlock(1, '{}'),
    ...messageStop('tool_use'),
  ]
  const { url } = await fakeProvider(t, stream(events))
  const { message } = await ask(anthropic(t, url))
  assert.deepEqual(
    message.content.map(({ type }) => type),
    ['tool-call'],
  )
})

test('an answer that met the limit on output says so', async (t) => {
  const { url } = await fakeProvider(t, stream([delta({ content: 'One' }), finish('length')]))
  assert.equal((await ask(openAi(t, url))).cut, true)
})

for (const args of ['{"name":', 'null', '["greet"]', '7']) {
  test(`the arguments ${args} are kept aside, and the call stays valid`, async (t) => {
    const { url } = await fakeProvider(t, stream([toolCall(args), finish('tool_calls')]))
    const { message } = await ask(openAi(t, url))
    assert.deepEqual(message.content, [
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'load_skill',
        input: {},
        providerOptions: { loadskill: { malformed: args } },
      },
    ])
  })
}

test('arguments cannot bring a prototype with them', async (t) => {
  const args = '{"__proto__":{"isAdmin":true},"\\u005f_proto__":{"b":1},"name":"constructor"}'
  const { url } = await fakeProvider(t, stream([toolCall(args), finish('tool_calls')]))
  const [call] = (await ask(openAi(t, url))).message.content
  assert.deepEqual(call?.type === 'tool-call' && call.input, { name: 'constructor' })
})

test('two calls of one id become two ids', async (t) => {
  const events = [messageStart, ...toolBlock(0, '{}'), ...toolBlock(1, '{}')]
  const both = stream([...events, ...messageStop('tool_use')])
  const { url } = await fakeProvider(t, both)
  const { message } = await ask(anthropic(t, url))
  assert.deepEqual(
    message.content.map((part) => part.type === 'tool-call' && part.toolCallId),
    ['c1', 'c1_2'],
  )
})

test('connections are kept from one call to the next', async (t) => {
  const script = Array.from({ length: 5 }, () => stream(anthropicTurn))
  const { url, requests } = await fakeProvider(t, ...script)
  const model = anthropic(t, url)
  for (const _ of script) await ask(model)
  assert.ok(new Set(requests.map(({ port }) => port)).size <= 2)
})

for (const suffix of ['', '/', '/v1', '/v1/']) {
  test(`ANTHROPIC_BASE_URL may end in "${suffix}"`, async (t) => {
    const { url, requests } = await fakeProvider(t, stream(anthropicTurn))
    await ask(anthropic(t, url, { ANTHROPIC_BASE_URL: url + suffix }))
    assert.equal(requests[0]?.url, '/v1/messages')
  })
}

test('OPENAI_BASE_URL may have a path of its own, and needs no key', async (t) => {
  const { url, requests } = await fakeProvider(t, stream(openAiTurn))
  const models = open(t, { MODEL: 'openai/a/b', OPENAI_BASE_URL: `${url}/proxy/v1/` })
  await ask(models.open(null))
  assert.equal(requests[0]?.url, '/proxy/v1/chat/completions')
  assert.equal(requests[0]?.headers.authorization, undefined)
  assert.equal(requests[0]?.body.model, 'a/b')
})

test('the default follows MODEL, then the key that is set', (t) => {
  const name = (env: Record<string, string>) => open(t, env).defaultName
  assert.equal(name({}), 'offline')
  assert.equal(name({ MODEL: 'openai/x', ANTHROPIC_API_KEY: 'k' }), 'openai/x')
  assert.match(name({ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }), /^anthropic\/claude-/)
  assert.match(name({ OPENAI_API_KEY: 'k' }), /^openai\/gpt-/)
})

test('a name opens the same model each time', (t) => {
  const models = open(t, { ANTHROPIC_API_KEY: 'k' })
  assert.equal(models.open('anthropic/x'), models.open('anthropic/x'))
  assert.equal(models.open(null), models.open(models.defaultName))
})

for (const name of [
  '',
  'x',
  'google/x',
  'openai/',
  'openai',
  'Offline',
  'openai/a b',
  'openai/x',
]) {
  test(`the model "${name}" cannot be used without more`, (t) => {
    assert.throws(() => open(t, {}).open(name), { code: 'model_invalid', status: 422 })
  })
}

test('a model without its key says what to set', (t) => {
  const models = open(t, { MODEL: 'anthropic/x' })
  assert.throws(() => models.open(null), { code: 'model_invalid', message: /ANTHROPIC_API_KEY/ })
})

test('an address that is none stops the start', (t) => {
  assert.throws(() => open(t, { OPENAI_BASE_URL: 'localhost' }), /OPENAI_BASE_URL/)
})

test("OpenAI's own server is spoken to in the words its newest models take", () => {
  const body = { model: 'gpt-5.6', max_tokens: 5, tools: [] }
  assert.deepEqual(forOpenAi(body), {
    model: 'gpt-5.6',
    tools: [],
    max_completion_tokens: 5,
    reasoning_effort: 'none',
  })
  assert.deepEqual(forOpenAi({ model: 'gpt-4.1', max_tokens: 5, tools: [] }), {
    model: 'gpt-4.1',
    tools: [],
    max_completion_tokens: 5,
  })
})
