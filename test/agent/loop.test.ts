import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skillMd } from '../build-app.ts'
import { atOnce, call, load, type Said, say } from '../scripted-model.ts'
import { occurrences, talk, tool } from './talk.ts'

const BODY = 'BODY-4711 Say hello.'
const greet = skillMd('greet', BODY)
const done = say('Done.')
const raw = (name: string, text: string): Said => ({ calls: [{ name, raw: text }] })

suite('the calls of a step', { concurrency: 2 }, () => {
  test('the same skill twice in one batch is one body and one short line', async (t) => {
    const twice = atOnce(load('greet'), load('greet'))
    const { ask, sent } = await talk(t, [twice, done], { skills: [greet] })
    const { receipt } = await ask({ message: 'Hi' })
    const repeats = receipt.loaded.map(({ repeat }: { repeat: boolean }) => repeat)
    assert.deepEqual(repeats, [false, true])
    const [, last] = sent()
    assert.ok(last)
    assert.equal(occurrences(last, BODY), 1)
    assert.match(last.results[0]?.text ?? '', /^<skill name="greet" version="1">\nBODY/)
    assert.match(last.results[1]?.text ?? '', /already loaded/)
    assert.equal(receipt.tokens.skills, receipt.loaded[0].tokens)
  })

  test('what cannot be run is an error result each, in call order, and the turn goes on', async (t) => {
    const batch = atOnce(
      call('no_such_tool', { a: 1 }),
      raw('load_skill', '{"name": "gre'),
      raw('load_skill', '["greet"]'),
      call('load_skill', { name: 7 }),
      call('load_skill', { name: 'greet', version: 1 }),
      call('load_skill', {}),
      load('gret'),
      load('greet'),
      call('read_skill_file', { skill: 'greet', path: '../../etc/passwd' }),
    )
    const { ask, sent } = await talk(t, [batch, done], { skills: [greet] })
    const turn = await ask({ message: 'Hi' })
    assert.equal(turn.status, 'completed')
    assert.equal(turn.receipt.loaded.length, 1)
    const results = sent()[1]?.results ?? []
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [true, true, true, true, true, true, true, false, true],
    )
    const told = [
      /no tool named "no_such_tool"/,
      /not a JSON object: \{"name": "gre/,
      /not a JSON object: \["greet"\]/,
      /\/name must be string/,
      /must NOT have additional properties \("version"\)/,
      /required property 'name'/,
      /no skill named "gret"\. The nearest names: greet\./,
      /<skill name="greet"/,
      /has no file "\.\.\/\.\.\/etc\/passwd"/,
    ]
    told.forEach((pattern, index) => void assert.match(results[index]?.text ?? '', pattern))
  })

  test('names of other things are those of no skill and no tool, and the conversation goes on', async (t) => {
    const names = [
      'constructor',
      '__proto__',
      'toString',
      '../x',
      'a/b',
      'NUL \0',
      'x'.repeat(10_000),
    ]
    const script = names.flatMap((name) => {
      const file = call('read_skill_file', { skill: name, path: 'x' })
      return [atOnce(load(name), call(name), file), done]
    })
    const { ask, sent } = await talk(t, script, { skills: [greet] })
    let conversation_id = null
    for (const name of names) {
      const turn = await ask({ conversation_id, message: 'Hi' })
      conversation_id = turn.conversation_id
      assert.equal(turn.status, 'completed')
      const results = sent().at(-1)?.results.slice(-3) ?? []
      for (const [at, what] of ['skill', 'tool', 'skill'].entries()) {
        assert.ok(results[at]?.isError)
        assert.ok(results[at]?.text.startsWith(`There is no ${what} named "`), name)
      }
    }
  })

  test('a call id that the model uses again gets a name of its own', async (t) => {
    const again = call('load_skill', { name: 'greet' }, 'toolu_same')
    const { ask, sent } = await talk(t, [atOnce(again, again), again, done], { skills: [greet] })
    assert.equal((await ask({ message: 'Hi' })).status, 'completed')
    const ids = sent()[2]?.results.map(({ id }) => id)
    assert.equal(new Set(ids).size, 3)
  })

  test('text beside calls is kept, and the output is the text of the last answer', async (t) => {
    const both = { text: 'One moment.', ...load('greet') }
    const { ask, sent } = await talk(t, [both, say('Hello!')], { skills: [greet] })
    const turn = await ask({ message: 'Hi' })
    assert.equal(turn.output, 'Hello!')
    assert.deepEqual(
      turn.messages.map(({ role, content }: { role: string; content: { type: string }[] }) => [
        role,
        ...content.map(({ type }) => type),
      ]),
      [
        ['assistant', 'text', 'tool_call'],
        ['tool', 'tool_result'],
        ['assistant', 'text'],
      ],
    )
    assert.deepEqual(
      sent()[1]?.messages[1]?.content.map(({ type }) => type),
      ['text', 'tool_use'],
    )
  })

  test('the calls decide whether the loop goes on, not the reason that the model gives', async (t) => {
    const { ask } = await talk(
      t,
      [
        { ...load('greet'), stop: 'end_turn' },
        { ...done, stop: 'tool_use' },
      ],
      {
        skills: [greet],
      },
    )
    const { status, steps } = await ask({ message: 'Hi' })
    assert.deepEqual([status, steps], ['completed', 2])
  })

  test('bodies drive further calls: a loaded skill leads to its files', async (t) => {
    const content = `${'line\n'.repeat(4)}last`
    const read = call('read_skill_file', { skill: 'guide', path: 'notes.md', offset: 2, limit: 2 })
    const { app, ask, sent } = await talk(t, [load('guide'), read, done])
    const files = [{ path: 'notes.md', content }]
    const payload = { content: skillMd('guide', 'See [notes](notes.md).'), files }
    await app.inject({ method: 'POST', url: '/api/v1/skills', payload })
    const turn = await ask({ message: 'Use guide' })
    assert.ok(turn.steps > 2)
    assert.match(sent()[1]?.results[0]?.text ?? '', /- notes\.md$/)
    assert.equal(sent()[2]?.results[1]?.text, 'line\nline\n… (2 more lines)')
  })
})

suite('what ends a turn', { concurrency: 2 }, () => {
  test('max_steps leaves an incomplete turn and a conversation that goes on', async (t) => {
    const { ask, sent } = await talk(t, [load('greet'), load('greet'), done], { skills: [greet] })
    const turn = await ask({ message: 'Hi', max_steps: 2 })
    assert.deepEqual(
      [turn.status, turn.stop_reason, turn.steps, turn.messages.at(-1).role],
      ['incomplete', 'max_steps', 2, 'tool'],
    )
    const { conversation_id } = turn
    const next = await ask({ conversation_id, message: 'Go on' })
    assert.equal(next.status, 'completed')
    assert.equal(sent()[2]?.results.length, 2)
  })

  test('an answer cut by its limit is incomplete', async (t) => {
    const { ask, requests } = await talk(t, [{ text: 'Half of', stop: 'max_tokens' }])
    const turn = await ask({ message: 'Hi', max_output_tokens: 5, temperature: 0.5 })
    assert.deepEqual([turn.status, turn.stop_reason], ['incomplete', 'max_tokens'])
    assert.equal(turn.output, 'Half of')
    assert.equal(requests[0]?.body.max_tokens, 5)
    assert.equal(requests[0]?.body.temperature, 0.5)
  })

  test('arguments cut by the limit are an error result, and the loop goes on', async (t) => {
    const cut = { ...raw('load_skill', '{"name":'), stop: 'max_tokens' }
    const { ask, sent } = await talk(t, [cut, done], { skills: [greet] })
    assert.equal((await ask({ message: 'Hi' })).status, 'completed')
    assert.equal(sent()[1]?.results[0]?.isError, true)
  })

  test('a caller’s call at the last step waits, and then the turn is at its end', async (t) => {
    const { ask } = await talk(t, [call('mine')])
    const { conversation_id, pending } = await ask({
      message: 'Hi',
      tools: [tool('mine')],
      max_steps: 1,
    })
    const tool_results = [{ call_id: pending[0].call_id, output: 'x' }]
    const turn = await ask({ conversation_id, tool_results })
    assert.deepEqual([turn.status, turn.stop_reason], ['incomplete', 'max_steps'])
  })
})
