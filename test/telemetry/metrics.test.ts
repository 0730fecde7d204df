import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { boundedNames } from '../../src/telemetry/bounded-names.ts'
import { type Answer, stream as answers, refuse } from '../agent/fake-provider.ts'
import { talk, tool, until } from '../agent/talk.ts'
import { putAgent, toolShop } from '../agent/tool-shop.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { buildTestApp, chat, skillMd, type TestApp } from '../build-app.ts'
import { listen, stream } from '../http/event-reader.ts'
import { ROOT } from '../run-service.ts'
import { atOnce, call, load, say, toAnswer } from '../scripted-model.ts'

const greet = skillMd('greet')

const read = async (app: TestApp) => (await app.inject('/metrics')).body

/** The samples of the metric that are not 0, without what every name begins with. */
async function samples(app: TestApp, name: string): Promise<string[]> {
  const lines = (await read(app)).split('\n')
  const wanted = new RegExp(`^loadskill_(${name}[{ ].*)$`)
  const found = lines.flatMap((line) => wanted.exec(line)?.[1] ?? [])
  return found.filter((line) => !line.endsWith(' 0')).sort()
}

suite('metrics of turns', { concurrency: 2 }, () => {
  test('count turns, steps, model calls, tokens, tool calls and uses of skills', async (t) => {
    const batch = atOnce(load('greet'), load('greet'), call('invented'), call('load_skill', {}))
    const script = [batch, say('Done.'), call('mine')]
    const { app, ask } = await talk(t, script, { skills: [greet] })
    await putAgent(app, 'clerk', {})
    const turn = await ask({ message: 'Hi', agent: 'clerk' })
    await ask({ message: 'Hi', tools: [tool('mine')] })

    const model = 'model="anthropic/test"'
    assert.deepEqual(await samples(app, 'turns_total'), [
      'turns_total{agent="clerk",status="completed",stop_reason="answered"} 1',
      'turns_total{agent="default",status="requires_action",stop_reason="tool_calls"} 1',
    ])
    assert.deepEqual(await samples(app, 'turns_running'), [])
    assert.deepEqual(await samples(app, 'steps_total'), ['steps_total 3'])
    assert.deepEqual(await samples(app, 'model_calls_total'), [
      `model_calls_total{${model},purpose="step",outcome="ok"} 3`,
    ])
    const tokens = await samples(app, 'model_tokens_total')
    const input = (turn.usage.input_tokens / 2) * 3
    assert.ok(tokens.includes(`model_tokens_total{${model},type="input"} ${input}`), `${tokens}`)
    assert.equal(tokens.length, 4)
    assert.deepEqual(await samples(app, 'model_call_seconds_count'), ['model_call_seconds_count 3'])
    assert.deepEqual(await samples(app, 'model_first_text_seconds_count'), [
      'model_first_text_seconds_count 1',
    ])
    assert.deepEqual(await samples(app, 'tool_calls_total'), [
      'tool_calls_total{tool="load_skill",outcome="ok"} 2',
      'tool_calls_total{tool="load_skill",outcome="refused"} 1',
      'tool_calls_total{tool="other",outcome="client"} 1',
      'tool_calls_total{tool="other",outcome="refused"} 1',
    ])
    assert.deepEqual(await samples(app, 'skill_uses_total'), [
      'skill_uses_total{skill="greet",kind="load"} 1',
      'skill_uses_total{skill="greet",kind="repeat"} 1',
    ])
    assert.doesNotMatch(await read(app), /invented|mine/)
  })

  test('count what fails, and why', async (t) => {
    const { app } = await talk(t, [refuse(400)])
    const response = await chat(app, { message: 'Hi' })
    assert.equal(response.statusCode, 502, response.body)
    assert.deepEqual(await samples(app, 'model_calls_total'), [
      'model_calls_total{model="anthropic/test",purpose="step",outcome="model_error"} 1',
    ])
    assert.deepEqual(await samples(app, 'turns_total'), [
      'turns_total{agent="default",status="failed",stop_reason="error"} 1',
    ])
    assert.deepEqual(await samples(app, 'turns_running'), [])
  })

  test('count preloads, and skills whose lists refuse a call', async (t) => {
    const strict = skillMd('strict', 'Read only.', 'allowed-tools: Read\n')
    const script = [call('mine'), say('Done.')]
    const { app, ask } = await talk(t, script, { skills: [strict] })
    await ask({ message: 'Hi', skills: { preload: ['strict'] }, tools: [tool('mine')] })
    assert.deepEqual(await samples(app, 'skill_uses_total'), [
      'skill_uses_total{skill="strict",kind="denied"} 1',
      'skill_uses_total{skill="strict",kind="load"} 1',
    ])
  })

  test('count calls that wait for an approval, and again when they run', async (t) => {
    const shop = await toolShop(t)
    const script = [call('cancel', { id: '7' }, 'call_1'), say('Done.')]
    const { app, ask } = await talk(t, script, { env: shop.env })
    await shop.add(app, 'cancel', { approval: true })
    const { conversation_id } = await ask({ message: 'Cancel it.' })
    await ask({ conversation_id, approvals: [{ call_id: 'call_1', decision: 'approve' }] })
    assert.deepEqual(await samples(app, 'tool_calls_total'), [
      'tool_calls_total{tool="cancel",outcome="approval"} 1',
      'tool_calls_total{tool="cancel",outcome="ok"} 1',
    ])
    assert.deepEqual(await samples(app, 'turns_total'), [
      'turns_total{agent="default",status="completed",stop_reason="answered"} 1',
      'turns_total{agent="default",status="requires_action",stop_reason="approval"} 1',
    ])
  })

  test('tell what runs and streams now', async (t) => {
    const hanging = answers([messageStart, ...textBlock(0, 'Half ').slice(0, 2)], 'hang')
    const { app } = await talk(t, [hanging])
    const leaving = new AbortController()
    await stream(await listen(app), { message: 'Hi' }, leaving.signal)
    const now = async () => [
      ...(await samples(app, 'turns_running')),
      ...(await samples(app, 'streams_open')),
    ]
    await until(async () => (await samples(app, 'model_first_text_seconds_count')).length === 1)
    assert.deepEqual(await now(), ['turns_running 1', 'streams_open 1'])
    leaving.abort()
    await until(async () => (await now()).length === 0)
    assert.deepEqual(await samples(app, 'turns_total'), [
      'turns_total{agent="default",status="interrupted",stop_reason="cancelled"} 1',
    ])
    assert.deepEqual(await samples(app, 'model_calls_total'), [
      'model_calls_total{model="anthropic/test",purpose="step",outcome="cancelled"} 1',
    ])
  })

  test('count compactions, and the calls that summaries are made with', async (t) => {
    const shop = await toolShop(t, { answer: () => 'lorem ipsum dolor sit amet '.repeat(60) })
    const clever: Answer = (response) => {
      const { tools = [], messages = [] } = talking.sent().at(-1) ?? {}
      const asked = messages.at(-1)?.content.every(({ type }) => type === 'text')
      const said = asked ? call('look', { id: '1' }) : say('There you are.')
      toAnswer(tools.length === 0 ? say('They look numbers up.') : said)(response)
    }
    const script = Array.from({ length: 100 }, () => clever)
    const env = { CONTEXT_MAX_TOKENS: '3000', ...shop.env }
    const talking = await talk(t, script, { env })
    const { app, ask } = talking
    await shop.add(app, 'look', { method: 'GET' })
    const message = 'And what is the number of the one behind it? '.repeat(20)
    const { conversation_id } = await ask({ message })
    for (let turn = 0; turn < 15; turn++) await ask({ conversation_id, message })
    assert.match(`${await samples(app, 'compactions_total')}`, /^compactions_total [1-9]/)
    const calls = (await samples(app, 'model_calls_total')).join('\n')
    assert.match(calls, /purpose="summary",outcome="ok"\} [1-9]/)
    assert.deepEqual(await samples(app, 'steps_total'), ['steps_total 32'])
  })

  test('count large outputs', async (t) => {
    const shop = await toolShop(t, { answer: (url) => 'x'.repeat(Number(url.split('/').at(-1))) })
    const looks = ['100000', '100001'].map((id) => call('look', { id }))
    const { app, ask } = await talk(t, [...looks, say('Done.')], { env: shop.env })
    await shop.add(app, 'look', { method: 'GET' })
    await ask({ message: 'Hi' })
    assert.deepEqual(await samples(app, 'tool_calls_total'), [
      'tool_calls_total{tool="look",outcome="ok"} 2',
    ])
    assert.deepEqual(await samples(app, 'large_outputs_total'), [
      'large_outputs_total{tool="look"} 1',
    ])
  })
})

test('names beyond the first hundred are others', () => {
  const names = boundedNames()
  const many = Array.from({ length: 102 }, (_, at) => names(`name-${at}`))
  assert.deepEqual(many.slice(-3), ['name-99', 'other', 'other'])
  assert.equal(names('name-7'), 'name-7')
})

test('the table of metrics is what is told', async (t) => {
  const app = await buildTestApp(t)
  const body = await read(app)
  const told = [...body.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name = '', help, type]) => ({ name, row: `| \`${name}\` | ${type} | ${help} |` }),
  )
  const own = told.filter(({ name }) => !/^(process|nodejs)_/.test(name))
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8')
  const [metrics = ''] = page.split('\n## Traces')
  const rows = metrics.split('\n').filter((line) => line.startsWith('| `'))
  assert.deepEqual(rows, own.map(({ row }) => row).sort())
  for (const [, name] of page.matchAll(/`((process|nodejs)_\w+)`/g)) {
    assert.ok(
      told.some((one) => one.name === name),
      name,
    )
  }
})
