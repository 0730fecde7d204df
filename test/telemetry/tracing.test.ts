import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { openTracing } from '../../src/telemetry/open-tracing.ts'
import { type Answer, stream as answers, refuse } from '../agent/fake-provider.ts'
import { talk, tool, until } from '../agent/talk.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { skillMd } from '../build-app.ts'
import { allOf, listen, stream } from '../http/event-reader.ts'
import { json } from '../run-service.ts'
import { atOnce, call, load, type Said, say } from '../scripted-model.ts'
import { traceReceiver } from './receiver.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${CALLER}-01`
const CLIENT = 3
const SERVER = 2
const ERROR = 2

type Receiver = Awaited<ReturnType<typeof traceReceiver>>

/** The service, with its spans sent to the receiver. Its log is kept. */
async function traced(t: TestContext, receiver: Pick<Receiver, 'url'>, script: (Said | Answer)[]) {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, SHUTDOWN_GRACE_MS: '500' }
  const tracing = await openTracing(readConfig(env))
  assert.ok(tracing)
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'debug', mixin: tracing.logFields },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  )
  const skills = [skillMd('greet', 'BODY-CANARY')]
  const { app, ask } = await talk(t, script, { skills, env, log, tracing })
  return { app, ask, lines }
}

suite('traces', { concurrency: 1 }, () => {
  test('show a turn, its model calls and its tool calls below the request, which is below its caller', async (t) => {
    const receiver = await traceReceiver(t)
    const batch = atOnce(load('greet'), call('mine', { id: 'INPUT-CANARY' }))
    const script = [batch, { text: 'SAID-CANARY', ...load('greet') }, say('SAID-CANARY')]
    const { app, lines } = await traced(t, receiver, script)
    const headers = { traceparent }
    const payload = { message: 'ASKED-CANARY', tools: [tool('mine')] }
    const url = '/api/v1/chat?q=QUERY-CANARY'
    assert.equal((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 400)
    const response = await app.inject({ method: 'POST', url: '/api/v1/chat', headers, payload })
    const turn = response.json()
    assert.equal(turn.status, 'requires_action', response.body)
    const metrics = (await app.inject('/metrics')).body
    assert.match(metrics, /^loadskill_skill_uses_total\{skill="greet",kind="load"\} 1$/m)
    assert.match(metrics, /^loadskill_tool_calls_total\{tool="other",outcome="client"\} 1$/m)
    await app.close()

    const spans = receiver.spans().filter(({ traceId }) => traceId === TRACE)
    assert.deepEqual(spans.map(({ name }) => name).sort(), [
      'POST /api/v1/chat',
      'POST /api/v1/chat',
      'chat test',
      'execute_tool load_skill',
      'invoke_agent default',
    ])
    const find = (start: string) =>
      spans.findLast(({ name }) => name.startsWith(start)) ?? assert.fail(`no span ${start}`)
    const request = find('POST')
    const agent = find('invoke_agent')
    const chat = find('chat')
    const skill = find('execute_tool')
    assert.deepEqual(
      [request, agent, chat, skill].map(({ parentSpanId }) => parentSpanId),
      [CALLER, request.spanId, agent.spanId, agent.spanId],
    )
    assert.deepEqual([request.kind, chat.kind], [SERVER, CLIENT])
    assert.equal(request.attributes['url.path'], '/api/v1/chat')
    assert.equal(request.attributes['http.response.status_code'], 200)

    const model = {
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'test',
      'gen_ai.conversation.id': turn.conversation_id,
    }
    const usage = {
      'gen_ai.usage.input_tokens': turn.usage.input_tokens,
      'gen_ai.usage.output_tokens': turn.usage.output_tokens,
      'gen_ai.usage.cache_read.input_tokens': turn.usage.cache_read_tokens,
      'gen_ai.usage.cache_creation.input_tokens': turn.usage.cache_write_tokens,
    }
    assert.deepEqual(chat.attributes, {
      'gen_ai.operation.name': 'chat',
      ...model,
      'gen_ai.request.max_tokens': 8192,
      'loadskill.purpose': 'step',
      ...usage,
    })
    assert.deepEqual(agent.attributes, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'default',
      ...model,
      'loadskill.turn.id': turn.id,
      'loadskill.turn.status': 'requires_action',
      'loadskill.turn.steps': 1,
      'loadskill.turn.stop_reason': 'tool_calls',
      ...usage,
    })
    const [loaded] = turn.receipt.loaded
    assert.deepEqual(agent.events, [
      {
        name: 'loadskill.call.waits',
        attributes: { 'gen_ai.tool.name': 'unknown', 'loadskill.waits_for': 'client' },
      },
      {
        name: 'loadskill.skill.load',
        attributes: {
          'loadskill.skill': 'greet',
          'loadskill.version': 1,
          'loadskill.tokens': loaded.tokens,
        },
      },
    ])
    const { 'gen_ai.tool.call.id': callId, ...told } = skill.attributes
    assert.match(String(callId), /^toolu_/)
    assert.deepEqual(told, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'load_skill',
      'gen_ai.tool.type': 'function',
      'gen_ai.conversation.id': turn.conversation_id,
    })
    assert.deepEqual(new Set(receiver.services()), new Set(['loadskill']))
    assert.deepEqual(new Set(receiver.paths), new Set(['/v1/traces']))
    assert.doesNotMatch(receiver.bodies.join(''), /CANARY/)

    const ofChat = lines.filter(({ path }) => path === '/api/v1/chat')
    assert.deepEqual(
      ofChat.map(({ trace_id, span_id, status }) => [trace_id, span_id, status]),
      spans
        .filter(({ name }) => name.startsWith('POST'))
        .map((span) => [TRACE, span.spanId, Number(span.attributes['http.response.status_code'])]),
    )
  })

  test('show streamed turns, and name failures by their codes alone', async (t) => {
    const receiver = await traceReceiver(t)
    const { app } = await traced(t, receiver, [call('load_skill', {}), say('Done.'), refuse(400)])
    const url = await listen(app)
    await allOf(await stream(url, { message: 'Hi' }))
    assert.equal((await fetch(`${url}/chat`, json({ message: 'Hi' }))).status, 502)
    assert.equal((await fetch(`${url}/skills/none`)).status, 404)
    await fetch(new URL('/health', url))
    await fetch(new URL('/metrics', url))
    await app.close()

    const told = receiver.spans().map(({ name, status, attributes }) => ({
      name,
      failed: status.code === ERROR,
      type: attributes['error.type'],
      status: attributes['http.response.status_code'],
    }))
    const ok = { failed: false, type: undefined, status: undefined }
    const failed = { failed: true, type: 'model_error', status: undefined }
    const request = { type: undefined, failed: false }
    const post = { ...request, name: 'POST /api/v1/chat' }
    const byName = (one: { name: string }, other: { name: string }) =>
      one.name.localeCompare(other.name)
    assert.deepEqual(
      told.filter(({ name }) => name !== 'POST /api/v1/skills').sort(byName),
      [
        { ...ok, name: 'chat test' },
        { ...ok, name: 'chat test' },
        { ...failed, name: 'chat test' },
        { ...failed, name: 'execute_tool load_skill', type: 'refused' },
        { ...request, name: 'GET /api/v1/skills/:name', status: 404 },
        { ...ok, name: 'invoke_agent default' },
        { ...failed, name: 'invoke_agent default' },
        { ...post, status: 200 },
        { ...post, failed: true, status: 502 },
      ].sort(byName),
    )
    assert.ok(receiver.spans().every(({ status }) => status.message === undefined))
    const [streamed] = receiver.spans().filter(({ name }) => name === 'POST /api/v1/chat')
    const [turn] = receiver.spans().filter(({ name }) => name === 'invoke_agent default')
    assert.deepEqual([turn?.traceId, turn?.parentSpanId], [streamed?.traceId, streamed?.spanId])
    assert.doesNotMatch(receiver.bodies.join(''), /CANARY/)
  })

  test('show a turn that its caller left as cancelled, and not as failed', async (t) => {
    const receiver = await traceReceiver(t)
    const hanging = answers([messageStart, ...textBlock(0, 'Half ').slice(0, 2)], 'hang')
    const { app } = await traced(t, receiver, [hanging])
    const leaving = new AbortController()
    await stream(await listen(app), { message: 'Hi' }, leaving.signal)
    const metrics = async () => (await app.inject('/metrics')).body
    await until(async () => /^loadskill_model_first_text_seconds_count 1$/m.test(await metrics()))
    leaving.abort()
    await until(async () => /^loadskill_turns_running 0$/m.test(await metrics()))
    await app.close()
    const find = (wanted: string) => receiver.spans().find(({ name }) => name === wanted)
    const call = find('chat test')
    assert.deepEqual(
      call?.events.map(({ name }) => name),
      ['loadskill.first_text'],
    )
    assert.deepEqual([call?.status.code, call?.attributes['loadskill.cancelled']], [0, true])
    const turn = find('invoke_agent default')
    assert.deepEqual(
      [turn?.status.code, turn?.attributes['loadskill.turn.status']],
      [0, 'interrupted'],
    )
  })

  for (const [what, answer] of [
    ['refuses them', (response) => response.writeHead(400).end()],
    ['hangs', () => {}],
    ['breaks off', (response) => response.socket?.destroy()],
  ] satisfies [string, Answer][]) {
    test(`hold nothing up when their receiver ${what}`, async (t) => {
      const receiver = await traceReceiver(t, answer)
      const { app, ask } = await traced(t, receiver, [say('Done.')])
      const turn = await ask({ message: 'Hi' })
      assert.equal(turn.status, 'completed')
      await app.close()
      assert.ok(receiver.bodies.length > 0)
    })
  }

  test('that cannot be sent are told of in the log', async (t) => {
    const receiver = await traceReceiver(t, (response) => void response.writeHead(400).end())
    const { app, lines } = await traced(t, receiver, [])
    await app.close()
    const told = lines.filter(({ msg }) => String(msg).includes('traces'))
    assert.deepEqual(
      told.map(({ msg }) => msg),
      ['traces cannot be sent: they are dropped'],
    )
  })
})
