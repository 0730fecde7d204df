import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../src/agent/model.ts'
import { offline } from '../../src/agent/models/offline.ts'
import { ask, loadSkill, request, user } from './ask-model.ts'

const system = `Be brief.
- say: nothing rude

Skills are instructions for special tasks.

- code-review: Review source code for bugs &amp; style. Use when the user asks for a review.
- contract-translation: 将合同翻译成英文。当用户需要翻译法律文件时使用。
- meeting-notes: Summarise meetings into decisions and action items.
- ryokan: 旅館の予約を変更します。
- weather: Forecasts for cities, with &lt;b&gt;units&lt;/b&gt;.`

const asked = (text: string) => [{ type: 'text' as const, text }]

const say = (...messages: Message[]) => ask(offline, request({ system, messages }))

const callOf = (reply: Awaited<ReturnType<typeof say>>) => {
  const [part] = reply.message.content
  return part?.type === 'tool-call' ? part : undefined
}

const textOf = (reply: Awaited<ReturnType<typeof say>>) => reply.deltas.join('')

for (const [said, name] of [
  ['Review auth.py', 'code-review'],
  ['Please use code-review on this.', 'code-review'],
  ['Could you run a Code Review?', 'code-review'],
  ['I need notes from our last meetings', 'meeting-notes'],
  ['Summarise the decisions we took', 'meeting-notes'],
  ['What will the weather be in Paris?', 'weather'],
  ['forecast', 'weather'],
  ['请帮我翻译这份合同', 'contract-translation'],
  ['翻译一下这个', 'contract-translation'],
  ['予約を変更したい', 'ryokan'],
] as const) {
  test(`"${said}" loads ${name} without a word`, async () => {
    const reply = await say(user(said))
    assert.deepEqual(reply.deltas, [])
    assert.equal(callOf(reply)?.toolName, 'load_skill')
    assert.deepEqual(callOf(reply)?.input, { name })
    assert.ok(reply.usage.inputTokens > 0 && reply.usage.outputTokens > 0)
  })
}

for (const said of [
  'Hello!',
  'What is the capital of France?',
  'say',
  'toString',
  '今天天气怎么样？',
]) {
  test(`"${said}" fits no skill, and the model says what it is`, async () => {
    const reply = await say(user(said))
    assert.equal(callOf(reply), undefined)
    assert.match(textOf(reply), /offline model.*ANTHROPIC_API_KEY or OPENAI_API_KEY/)
    assert.ok(reply.deltas.length > 1)
    assert.deepEqual(reply.message.content, [{ type: 'text', text: textOf(reply) }])
  })
}

const loaded = (name: string, body: string, id = 'c1'): Message[] => [
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: id, toolName: 'load_skill', input: { name } }],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: id,
        toolName: 'load_skill',
        output: { type: 'text', value: body },
      },
    ],
  },
]
const body = '<skill name="code-review" version="3">\n# How to review\n\nRead it.\n</skill>'

test('once loaded, the skill is named with its version and quoted', async () => {
  const reply = await say(user('Review auth.py'), ...loaded('code-review', body))
  assert.match(textOf(reply), /offline model.*code-review \(version 3\).*"# How to review"/)
})

test('a skill that is in the conversation is not loaded again', async () => {
  const first = [user('Review auth.py'), ...loaded('code-review', body)]
  const reply = await say(...first, user('Review main.py'))
  assert.match(textOf(reply), /code-review \(version 3\)/)
  assert.deepEqual(callOf(await say(...first, user('And the weather?')))?.input, {
    name: 'weather',
  })
})

test('a body put before what the user wrote is loaded, and is not what was asked', async () => {
  const preloaded: Message = {
    role: 'user',
    content: [
      { type: 'text', text: body, providerOptions: { loadskill: { load: 'x' } } },
      { type: 'text', text: 'Hello!' },
    ],
  }
  assert.match(textOf(await say(preloaded)), /code-review \(version 3\)/)
  const other = { ...preloaded, content: [...preloaded.content.slice(0, 1), ...asked('weather')] }
  assert.deepEqual(callOf(await say(other))?.input, { name: 'weather' })
})

test('a load that failed is not tried again', async () => {
  const failed = loaded('code-review', 'There is no skill named "code-review".')
  assert.match(textOf(await say(user('Review auth.py'), ...failed)), /could not be loaded/)
})

test('calls of one conversation have ids of their own', async () => {
  const ids = await Promise.all([1, 2, 3].map(async () => callOf(await say(user('weather')))))
  assert.equal(new Set(ids.map((call) => call?.toolCallId)).size, 3)
})

for (const said of [
  'What skills are there?',
  'List all skills',
  '有哪些技能？',
  'どんなスキルがありますか',
]) {
  test(`"${said}" is answered with their names`, async () => {
    const names = 'code-review, contract-translation, meeting-notes, ryokan, weather.'
    assert.ok(textOf(await say(user(said))).includes(names))
  })
}

test('without load_skill or without skills nothing is called', async () => {
  const messages = [user('Review auth.py')]
  const noTool = await ask(offline, request({ system, messages, tools: [] }))
  assert.match(textOf(noTool), /offline model/)
  const noSkills = await ask(offline, request({ system: '', messages, tools: [loadSkill] }))
  assert.match(textOf(noSkills), /no skills on offer/)
})

test('a caller that leaves stops it', async () => {
  const reason = new Error('gone')
  const controller = new AbortController()
  const replies = offline(request({ system, signal: controller.signal }))
  await replies.next()
  controller.abort(reason)
  await assert.rejects(replies.next(), reason)
})
