import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meanwhile, talk, tool } from '../agent/talk.ts'
import { chat, get, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, namesOf, send } from '../requests.ts'
import { call, load, type Sent, say } from '../scripted-model.ts'

const SKILL_TOOLS = ['load_skill', 'read_skill_file']
const tagged = (name: string, ...tags: string[]) =>
  skillMd(name, `The body of ${name}.`, `tags: [${tags.join(', ')}]\n`)
const SKILLS = [
  tagged('apple', 'fruit', 'red'),
  tagged('banana', 'fruit', 'yellow'),
  tagged('brick', 'red'),
]

async function write(app: TestApp, path: string, payload: object): Promise<void> {
  const { statusCode, body } = await send(app, 'PUT', path, { payload })
  assert.ok(statusCode < 300, body)
}

const writeTool = (app: TestApp, name: string) =>
  write(app, `/tools/${name}`, {
    description: `The tool ${name}.`,
    input_schema: { type: 'object' },
    request: { method: 'GET', url: 'https://shop.example/' },
  })

/** The skills that a prompt offers. */
const offeredIn = ({ system }: Sent) =>
  [...system.matchAll(/^- ([a-z-]+): /gm)].map(([, name]) => name)

test('an agent brings its instructions, and what the request says goes first', async (t) => {
  const { app, ask, sent, requests } = await talk(t, [say('1'), say('2'), say('3')])
  await write(app, '/agents/poet', { instructions: 'Rhyme.', model: 'anthropic/bard' })
  const { conversation_id } = await ask({ agent: 'poet', message: 'Hi' })
  await ask({ conversation_id, message: 'Again', instructions: 'Sing.', model: 'anthropic/tenor' })
  await ask({ message: 'Hi' })
  const [first, second, third] = sent()
  assert.deepEqual([first?.system, second?.system], ['Rhyme.', 'Sing.'])
  assert.ok(third && !/Rhyme|Sing/.test(third.system))
  assert.deepEqual(
    requests.map(({ body }) => body.model),
    ['bard', 'tenor', 'test'],
  )
  assert.equal((await get(app, `/conversations/${conversation_id}`)).json().agent, 'poet')
})

const narrowed: [what: string, agent: object, request: object | undefined, offered: string[]][] = [
  ['by its names', { names: ['brick', 'apple'] }, undefined, ['apple', 'brick']],
  ['by its tags', { tags: ['fruit'] }, undefined, ['apple', 'banana']],
  ['by both', { names: ['banana', 'brick'], tags: ['red'] }, undefined, ['brick']],
  ['further by names', { names: ['apple', 'brick'] }, { names: ['brick', 'banana'] }, ['brick']],
  ['further by tags', { tags: ['fruit'] }, { tags: ['red'] }, ['apple']],
  ['by its tags and names', { tags: ['red'] }, { names: ['banana', 'apple'] }, ['apple']],
  ['and not widened by null', { names: ['apple'] }, { names: null, tags: null }, ['apple']],
  ['and not widened by names', { names: ['apple'] }, { names: ['banana'] }, []],
  ['and not widened by tags', { tags: ['fruit', 'red'] }, { tags: [] }, ['apple']],
  ['to nothing', { names: [] }, { names: ['apple'] }, []],
]
for (const [what, skills, request, offered] of narrowed) {
  test(`the skills are narrowed ${what}`, async (t) => {
    const { app, ask, sent } = await talk(t, [load('banana'), say('Hello.')], { skills: SKILLS })
    await write(app, '/agents/a', { skills })
    const turn = await ask({ agent: 'a', message: 'Hi', ...(request && { skills: request }) })
    const [first, second] = sent()
    assert.ok(first && second)
    assert.deepEqual(offeredIn(first), offered)
    assert.deepEqual(first.tools, offered.length > 0 ? SKILL_TOOLS : [])
    assert.equal(turn.receipt.catalog.offered, offered.length)
    const has = offered.includes('banana')
    assert.equal(second.results[0]?.isError, !has)
    assert.equal(turn.receipt.loaded.length, has ? 1 : 0)
  })
}

test('a preload brings no skill that the agent does not have', async (t) => {
  const hidden = skillMd('berry', 'Hidden.', 'tags: [fruit]\ndisable-model-invocation: true\n')
  const { app, ask, sent } = await talk(t, [say('Hi.')], { skills: [...SKILLS, hidden] })
  await write(app, '/agents/a', { skills: { tags: ['fruit'] } })
  const preload = (...names: string[]) => ({
    agent: 'a',
    message: 'Hi',
    skills: { names: ['banana'], preload: names },
  })
  const problem = assertProblem(await chat(app, preload('brick')), 404, 'skill_not_found')
  assert.deepEqual(problem.suggestions, [])
  assert.deepEqual(namesOf(await get(app, '/conversations')), [])
  const turn = await ask(preload('apple', 'berry'))
  assert.deepEqual(
    turn.receipt.loaded.map(({ name }: { name: string }) => name),
    ['apple', 'berry'],
  )
  assert.deepEqual(offeredIn(sent()[0] ?? assert.fail()), ['banana'])
})

test('an agent has the tools that its globs name, and no others', async (t) => {
  const script = [call('cancel_order'), say('No.'), say('Hi.'), say('Hi.')]
  const { app, ask, sent } = await talk(t, script)
  for (const name of ['get_order', 'get_policy', 'cancel_order']) await writeTool(app, name)
  await write(app, '/agents/reader', { tools: ['get_*'] })
  await write(app, '/agents/talker', { tools: [] })
  await ask({ agent: 'reader', message: 'Cancel it' })
  await ask({ agent: 'talker', message: 'Hi' })
  await ask({ message: 'Hi' })
  const [first, second, third, fourth] = sent().map(({ tools }) => tools)
  assert.deepEqual(first, ['get_order', 'get_policy'])
  assert.deepEqual([second, third], [first, []])
  assert.deepEqual(fourth, ['cancel_order', 'get_order', 'get_policy'])
  const [refused] = sent()[1]?.results ?? []
  assert.match(refused?.text ?? '', /no tool named "cancel_order"/)
  assert.equal(refused?.isError, true)
})

test('a tool of the caller may not be called as one of the agent', async (t) => {
  const { app, ask, sent } = await talk(t, [say('Hi.')])
  await writeTool(app, 'get_order')
  await write(app, '/agents/talker', { tools: ['other_*'] })
  const withTool = (agent: string, name: string) => ({ agent, message: 'Hi', tools: [tool(name)] })
  for (const name of ['get_order', ...SKILL_TOOLS, 'search_skills']) {
    assertProblem(await chat(app, withTool('default', name)), 422, 'tool_name_taken')
  }
  assertProblem(await chat(app, withTool('talker', 'load_skill')), 422, 'tool_name_taken')
  assert.deepEqual((await get(app, '/conversations')).json().data, [])
  await ask(withTool('talker', 'get_order'))
  assert.deepEqual(sent()[0]?.tools, ['get_order'])
})

test('a tool of ours that comes later takes no call from the caller who has one of its name', async (t) => {
  const getOrder = call('get_order', {}, 'call_1')
  const { app, ask, sent } = await talk(t, [getOrder, say('There.'), getOrder, say('There.')])
  const tools = [tool('get_order')]
  const { conversation_id, pending } = await ask({ message: 'Find it', tools })
  assert.equal(pending[0].kind, 'client')
  await writeTool(app, 'get_order')
  const tool_results = [{ call_id: 'call_1', output: 'an order' }]
  assert.equal((await ask({ conversation_id, tool_results })).status, 'completed')
  assert.deepEqual(sent()[1]?.tools, ['get_order'])
  assertProblem(
    await chat(app, { conversation_id, message: 'Again', tools }),
    422,
    'tool_name_taken',
  )
})

test('an agent’s steps and catalog are limited, and a request may take more steps', async (t) => {
  const script = [load('apple'), load('apple'), load('brick'), say('Done.')]
  const { app, ask, sent } = await talk(t, script, { skills: SKILLS })
  await write(app, '/agents/a', { max_steps: 1, catalog_max_tokens: 30 })
  const short = await ask({ agent: 'a', message: 'Hi' })
  assert.deepEqual([short.status, short.stop_reason, short.steps], ['incomplete', 'max_steps', 1])
  const long = await ask({ agent: 'a', message: 'Hi', max_steps: 3 })
  assert.deepEqual([long.status, long.steps], ['completed', 3])
  const { offered, shortened, tokens } = long.receipt.catalog
  assert.deepEqual([offered, shortened], [3, 3])
  assert.ok(tokens <= 30, String(tokens))
  for (const { tools } of sent()) assert.deepEqual(tools, [...SKILL_TOOLS, 'search_skills'])
})

test('an agent’s mode is that of its conversations, until one says otherwise', async (t) => {
  const script = [load('strict'), say('1'), say('2'), load('strict'), say('3')]
  const strict = skillMd('strict', 'Be strict.', 'allowed-tools: get_order\n')
  const { app, ask, sent } = await talk(t, script, { skills: [strict] })
  for (const name of ['get_order', 'get_policy']) await writeTool(app, name)
  await write(app, '/agents/free', { allowed_tools_mode: 'off' })
  const { conversation_id } = await ask({ agent: 'free', message: 'Hi' })
  await ask({ conversation_id, message: 'Hi', allowed_tools_mode: 'restrict' })
  await ask({ message: 'Hi' })
  const all = ['get_order', 'get_policy', ...SKILL_TOOLS]
  const few = ['get_order', ...SKILL_TOOLS]
  assert.deepEqual(
    sent().map(({ tools }) => tools),
    [all, all, few, all, few],
  )
})

test('an unknown agent is not found, and nothing is stored', async (t) => {
  const { app } = await talk(t, [])
  await write(app, '/agents/reviewer', {})
  const near = await chat(app, { agent: 'reviwer', message: 'Hi' })
  assert.deepEqual(assertProblem(near, 404, 'agent_not_found').suggestions, ['reviewer'])
  for (const agent of ['constructor', '__proto__', '', '../x', 'x'.repeat(10_000), '\0']) {
    assertProblem(await chat(app, { agent, message: 'Hi' }), 404, 'agent_not_found')
  }
  assert.deepEqual((await get(app, '/conversations')).json().data, [])
})

test('a conversation stays with its agent', async (t) => {
  const { app, ask, sent } = await talk(t, [say('1'), say('2'), say('3')])
  for (const name of ['one', 'other']) await write(app, `/agents/${name}`, { instructions: name })
  const { conversation_id } = await ask({ agent: 'one', message: 'Hi' })
  for (const agent of ['other', 'default', 'none']) {
    const response = await chat(app, { conversation_id, agent, message: 'Hi' })
    assertProblem(response, 400, 'body_invalid')
  }
  await ask({ conversation_id, message: 'Hi' })
  await write(app, '/agents/one', { instructions: 'one, changed' })
  await ask({ conversation_id, agent: 'one', message: 'Hi' })
  assert.deepEqual(
    sent().map(({ system }) => system),
    ['one', 'one', 'one, changed'],
  )
})

test('a turn that runs outlives its agent, and the conversation waits for it to come back', async (t) => {
  const script = [
    meanwhile(async () => {
      assert.equal((await send(app, 'DELETE', '/agents/one')).statusCode, 204)
    }, load('apple')),
    say('Loaded.'),
    say('Back.'),
  ]
  const { app, ask, sent } = await talk(t, script, { skills: SKILLS })
  await write(app, '/agents/one', { instructions: 'Be one.' })
  const turn = await ask({ agent: 'one', message: 'Hi' })
  assert.deepEqual([turn.status, turn.steps], ['completed', 2])

  const { conversation_id } = turn
  for (const body of [{ message: 'Hi' }, { message: 'Hi', agent: 'one' }]) {
    const response = await chat(app, { conversation_id, ...body })
    assertProblem(response, 404, 'agent_not_found')
  }
  const kept = (await get(app, `/conversations/${conversation_id}`)).json()
  assert.deepEqual([kept.agent, kept.messages.length], ['one', 4])
  await write(app, '/agents/one', { instructions: 'Be one again.' })
  assert.equal((await ask({ conversation_id, message: 'Hi' })).output, 'Back.')
  assert.match(sent()[2]?.system ?? '', /^Be one again\./)
})

test('a call that waits for approval waits for its agent, too', async (t) => {
  const { app, ask } = await talk(t, [call('get_order', {}, 'call_1'), say('Done.')])
  await writeTool(app, 'get_order')
  await write(app, '/agents/one', { approval: ['get_*'] })
  const { conversation_id, pending } = await ask({ agent: 'one', message: 'Find it' })
  assert.deepEqual([pending[0].call_id, pending[0].kind], ['call_1', 'approval'])
  await send(app, 'DELETE', '/agents/one')
  const approvals = [{ call_id: 'call_1', decision: 'deny' }]
  assertProblem(await chat(app, { conversation_id, approvals }), 404, 'agent_not_found')
  await write(app, '/agents/one', {})
  assert.equal((await ask({ conversation_id, approvals })).status, 'completed')
})
