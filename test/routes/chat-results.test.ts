import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { talk, temporaryFolder, tool } from '../agent/talk.ts'
import { buildTestApp, chat, get, skillMd } from '../build-app.ts'
import { atOnce, call, load, type Said, say } from '../scripted-model.ts'

const tools = [tool('a', { x: { type: 'integer' } }), tool('b')]
const three = atOnce(call('a', { x: 1 }, 'call_1'), load('greet'), call('b', {}, 'call_2'))
const skills = [skillMd('greet')]

/** A turn that waits for two results. */
async function waiting(t: TestContext, script: Said[] = [say('Done.')], env = {}) {
  const talking = await talk(t, [three, ...script], { skills, env })
  const turn = await talking.ask({ message: 'Hi', tools, allowed_tools_mode: 'off' })
  const { conversation_id } = turn
  const give = (...results: [id: string, output: string, is_error?: boolean][]) =>
    chat(talking.app, {
      conversation_id,
      tool_results: results.map(([call_id, output, is_error]) => ({
        call_id,
        output,
        ...(is_error !== undefined && { is_error }),
      })),
    })
  return { ...talking, turn, conversation_id, give }
}

const pendingOf = (turn: { pending: { call_id: string }[] }) =>
  turn.pending.map(({ call_id }) => call_id)

suite('calls that wait for the caller', { concurrency: 2 }, () => {
  test('are pending with name and input, and ours have run meanwhile', async (t) => {
    const { app, turn, conversation_id } = await waiting(t)
    assert.deepEqual(
      [turn.status, turn.stop_reason, turn.steps],
      ['requires_action', 'tool_calls', 1],
    )
    assert.deepEqual(turn.pending, [
      { call_id: 'call_1', name: 'a', input: { x: 1 }, kind: 'client' },
      { call_id: 'call_2', name: 'b', input: {}, kind: 'client' },
    ])
    assert.equal(turn.receipt.loaded.length, 1)
    const stored = (await get(app, `/conversations/${conversation_id}/turns/${turn.id}`)).json()
    assert.deepEqual({ ...stored, offered: undefined }, { ...turn, offered: undefined })
  })

  test('answered at once in another order stand in call order, and the turn goes on', async (t) => {
    const { turn, give, sent } = await waiting(t)
    const response = await give(['call_2', 'two', true], ['call_1', 'one'])
    const next = response.json()
    assert.deepEqual(
      [next.id, next.status, next.steps, next.output],
      [turn.id, 'completed', 2, 'Done.'],
    )
    assert.equal(next.usage.model_calls, 2)
    assert.equal(next.usage.input_tokens, turn.usage.input_tokens * 2)
    assert.deepEqual(next.receipt.loaded, turn.receipt.loaded)
    assert.deepEqual(next.messages.slice(0, 1), turn.messages)
    assert.equal(next.messages.length, 3)
    const [one, skill, two, ...others] = sent()[1]?.results ?? []
    assert.deepEqual([one?.text, one?.isError], ['one', false])
    assert.match(skill?.text ?? '', /^<skill/)
    assert.deepEqual([two?.text, two?.isError], ['two', true])
    assert.deepEqual(others, [])
    assert.deepEqual(sent()[1]?.tools, sent()[0]?.tools)
  })

  test('may be answered one by one', async (t) => {
    const { give, sent, conversation_id, app } = await waiting(t)
    const half = (await give(['call_2', 'two'])).json()
    assert.equal(half.status, 'requires_action')
    assert.deepEqual(pendingOf(half), ['call_1'])
    assert.equal(sent().length, 1)
    const { data } = (await get(app, `/conversations/${conversation_id}/turns`)).json()
    assert.deepEqual(pendingOf(data[0]), ['call_1'])
    assert.equal((await give(['call_1', 'one'])).json().status, 'completed')
    assert.deepEqual(
      [0, 2].map((at) => sent()[1]?.results[at]?.text),
      ['one', 'two'],
    )
  })

  test('may be answered by nothing, and by much', async (t) => {
    const { give, sent } = await waiting(t)
    const much = '你'.repeat(100_000)
    assert.equal((await give(['call_1', ''], ['call_2', much])).json().status, 'completed')
    assert.equal(sent()[1]?.results[2]?.text, much)
  })

  test('a result for a call that does not wait is refused, and changes nothing', async (t) => {
    const { app, turn, give, conversation_id, sent } = await waiting(t)
    const ours = turn.messages[0].content[1].call_id
    for (const [what, results] of [
      ['an unknown id', [['call_9', 'x']]],
      [
        'an unknown id beside a good one',
        [
          ['call_1', 'x'],
          ['call_9', 'x'],
        ],
      ],
      [
        'one id twice',
        [
          ['call_1', 'x'],
          ['call_1', 'y'],
        ],
      ],
      ['a call that was ours', [[ours, 'x']]],
      ['__proto__', [['__proto__', 'x']]],
    ] satisfies [string, [string, string][]][]) {
      const refused = await give(...results)
      assert.deepEqual([refused.statusCode, refused.json().code], [422, 'call_not_pending'], what)
      const stored = await get(app, `/conversations/${conversation_id}/turns/${turn.id}`)
      assert.deepEqual(pendingOf(stored.json()), ['call_1', 'call_2'])
    }
    assert.equal((await give(['call_1', 'x'], ['call_2', 'x'])).json().status, 'completed')
    assert.equal(sent().length, 2)
  })

  test('a refused result changes no setting either', async (t) => {
    const { app, give, conversation_id, sent } = await waiting(t)
    const tool_results = [{ call_id: 'call_9', output: 'x' }]
    await chat(app, { conversation_id, tool_results, tools: [], instructions: 'Other.' })
    await give(['call_1', 'x'], ['call_2', 'x'])
    assert.deepEqual(sent()[1]?.tools, sent()[0]?.tools)
    assert.equal(sent()[1]?.system, sent()[0]?.system)
  })

  test('a result comes too late when the turn is over', async (t) => {
    const { give } = await waiting(t)
    await give(['call_1', 'x'], ['call_2', 'x'])
    const late = await give(['call_1', 'x'])
    assert.equal(late.json().code, 'call_not_pending')
  })

  test('of two equal results that come at once, one is taken', async (t) => {
    const { give, sent } = await waiting(t)
    const all = await Promise.all([1, 2, 3].map(() => give(['call_1', 'x'], ['call_2', 'x'])))
    const codes = all.map((response) => response.statusCode).sort()
    assert.equal(codes[0], 200)
    assert.ok(
      codes.slice(1).every((code) => code === 409 || code === 422),
      String(codes),
    )
    assert.equal(sent().length, 2)
  })

  test('two results that come at once from two sides do not lose each other', async (t) => {
    const { give, sent } = await waiting(t)
    const sides = [
      ['call_1', 'one'],
      ['call_2', 'two'],
    ] satisfies [string, string][]
    const all = await Promise.all(sides.map((side) => give(side)))
    for (const [at, side] of sides.entries()) {
      if (all[at]?.statusCode !== 200) assert.equal((await give(side)).statusCode, 200)
    }
    assert.deepEqual(
      [0, 2].map((at) => sent()[1]?.results[at]?.text),
      ['one', 'two'],
    )
  })

  test('a new message gives every open call an error result', async (t) => {
    const { give, ask, app, turn, conversation_id, sent } = await waiting(t)
    await give(['call_2', 'two'])
    const next = await ask({ conversation_id, message: 'Never mind' })
    assert.deepEqual([next.status, next.steps], ['completed', 1])
    assert.notEqual(next.id, turn.id)
    const [one, skill, two] = sent()[1]?.results ?? []
    assert.equal(one?.isError, true)
    assert.deepEqual([skill?.isError, two?.isError, two?.text], [false, false, 'two'])
    const before = (await get(app, `/conversations/${conversation_id}/turns/${turn.id}`)).json()
    assert.equal(before.status, 'interrupted')
    assert.deepEqual(before.pending, [])
    assert.equal((await give(['call_1', 'late'])).json().code, 'call_not_pending')
  })

  test('may be answered by another process, on the same database', async (t) => {
    const DATABASE_URL = `sqlite:${await temporaryFolder(t)}/chat.db`
    const { app, env, turn, conversation_id, give, sent } = await waiting(t, undefined, {
      DATABASE_URL,
    })
    await give(['call_1', 'one'])
    await app.close()

    const next = await buildTestApp(t, { env })
    const tool_results = [{ call_id: 'call_2', output: 'two' }]
    const response = await chat(next, { conversation_id, tool_results })
    assert.deepEqual([response.json().id, response.json().status], [turn.id, 'completed'])
    assert.deepEqual(
      [0, 2].map((at) => sent()[1]?.results[at]?.text),
      ['one', 'two'],
    )
    assert.deepEqual(sent()[1]?.tools, sent()[0]?.tools)
  })

  test('are for the turn’s receipt what they were, when it goes on and refuses another call', async (t) => {
    const listed = skillMd('listed', 'Body.', 'allowed-tools: a\n')
    const first = atOnce(load('listed'), call('a', {}, 'call_1'))
    const second = atOnce(call('a', {}, 'call_2'), call('b'))
    const { ask } = await talk(t, [first, second, say('Done.')], { skills: [listed] })
    const { conversation_id } = await ask({ message: 'Hi', tools })
    const results = (call_id: string) => ({
      conversation_id,
      tool_results: [{ call_id, output: '' }],
    })
    const half = await ask(results('call_1'))
    assert.deepEqual(half.receipt.denied, [{ tool: 'b', skill: 'listed', by: 'skill', step: 2 }])
    const { steps, receipt, usage } = await ask(results('call_2'))
    assert.deepEqual([steps, receipt.loaded.length, usage.model_calls], [3, 1, 3])
    assert.deepEqual(receipt.denied, half.receipt.denied)
  })
})
