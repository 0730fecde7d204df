import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { type Answer, stream as answers } from '../agent/fake-provider.ts'
import { meanwhile, talk, temporaryFolder, tool, until } from '../agent/talk.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { buildTestApp, chat, get, skillMd, type TestApp } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { allOf, type Event, listen, stream } from './event-reader.ts'

const begun = [messageStart, ...textBlock(0, 'Half ').slice(0, 2)]
const hanging = answers(begun, 'hang')
const namesOf = (events: Event[]) => events.map(({ event }) => event)
const statusOf = async (app: TestApp) => {
  const { data } = (await get(app, '/conversations/conv_00000001/turns')).json()
  return [data.at(-1).status, data.at(-1).stop_reason]
}
const untilStored = (app: TestApp, status: string) =>
  until(async () => (await statusOf(app))[0] === status)

suite('the events of a turn', { concurrency: 2 }, () => {
  test('come in order, with increasing ids, and the last one is the whole turn', async (t) => {
    const script = [{ text: 'One moment.', ...load('greet') }, say('Done.'), say('Done.')]
    const { app } = await talk(t, script, { skills: [skillMd('greet')] })
    const url = await listen(app)
    const response = await stream(url, { message: 'Hi' })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('x-request-id') ?? '', /^req_/)
    const events = await allOf(response)
    assert.deepEqual(namesOf(events), [
      'turn.started',
      ...['text.delta', 'text.delta', 'tool.called', 'skill.loaded', 'tool.finished'],
      'step.finished',
      ...['text.delta', 'step.finished'],
      'turn.finished',
    ])
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, at) => at + 1),
    )
    const [started, one, two, called, loaded, finished, step] = events.map(({ data }) => data)
    const turn = events.at(-1)?.data ?? {}
    assert.deepEqual(started, { conversation_id: turn.conversation_id, turn_id: turn.id })
    assert.equal(`${one?.text}${two?.text}`, 'One moment.')
    const { call_id } = called ?? {}
    assert.deepEqual(called, { call_id, name: 'load_skill', input: { name: 'greet' }, step: 1 })
    const { receipt, usage } = JSON.parse(JSON.stringify(turn))
    assert.deepEqual(loaded, receipt.loaded[0])
    const { output, ...rest } = finished ?? {}
    assert.deepEqual(rest, { call_id, name: 'load_skill', is_error: false, step: 1 })
    assert.match(String(output), /^<skill name="greet"/)
    assert.deepEqual(step, { step: 1, usage: JSON.parse(JSON.stringify(step)).usage })
    assert.equal(usage.model_calls, 2)

    const path = `/conversations/${turn.conversation_id}/turns/${turn.id}`
    const { offered, ...stored } = (await get(app, path)).json()
    assert.deepEqual(turn, stored)
    const json = (await chat(app, { message: 'Hi' })).json()
    assert.deepEqual(Object.keys(turn).sort(), Object.keys(json).sort())
  })

  test('of a turn that waits end with what is pending, and a preload is told first', async (t) => {
    const { app } = await talk(t, [call('mine')], { skills: [skillMd('greet')] })
    const url = await listen(app)
    const skills = { preload: ['greet'] }
    const events = await allOf(await stream(url, { message: 'Hi', tools: [tool('mine')], skills }))
    assert.deepEqual(namesOf(events), [
      ...['turn.started', 'skill.loaded', 'tool.called', 'step.finished', 'turn.finished'],
    ])
    assert.equal(events.at(-1)?.data.status, 'requires_action')
  })

  test('cut a long output within no character, and keep line breaks within the data', async (t) => {
    const text = 'One\nTwo\r\n\n event: error\rdata: {}\u2028Three'
    const { app } = await talk(t, [load('long'), say(text)], {
      skills: [skillMd('long', '🦊'.repeat(3000))],
    })
    const events = await allOf(await stream(await listen(app), { message: 'Hi' }))
    const output = String(events.find(({ event }) => event === 'tool.finished')?.data.output)
    assert.ok(output.length === 1999 || output.length === 2000)
    assert.ok(output.isWellFormed())
    const deltas = events.filter(({ event }) => event === 'text.delta').map(({ data }) => data.text)
    assert.equal(deltas.join(''), text)
  })

  test('are asked for by the Accept header too, unless the body says otherwise', async (t) => {
    const app = await buildTestApp(t)
    const headers = { accept: 'text/event-stream' }
    for (const [more, type] of [
      [{}, 'text/event-stream'],
      [{ stream: false }, 'application/json; charset=utf-8'],
    ] as const) {
      const payload = { message: 'Hi', ...more }
      const response = await app.inject({ method: 'POST', url: '/api/v1/chat', headers, payload })
      assert.equal(response.headers['content-type'], type)
    }
    const refused = await chat(app, { message: 'Hi', stream: true, model: 'x' })
    assert.equal(refused.statusCode, 422)
    assert.match(String(refused.headers['content-type']), /^application\/problem\+json/)
  })

  test('end with the turn when it is cancelled', async (t) => {
    const { app, requests } = await talk(t, [hanging])
    const url = await listen(app)
    const events = allOf(await stream(url, { message: 'Hi' }))
    await until(() => requests.length === 1)
    await fetch(`${url}/conversations/conv_00000001/cancel`, { method: 'POST' })
    const { event, data } = (await events).at(-1) ?? {}
    assert.deepEqual(
      [event, data?.status, data?.stop_reason],
      ['turn.finished', 'interrupted', 'cancelled'],
    )
  })
})

suite('a client that leaves', { concurrency: 2 }, () => {
  for (const mode of [true, false]) {
    test(`ends the model’s request within a second, ${mode ? 'in a stream' : 'as JSON'}`, async (t) => {
      const { app, requests } = await talk(t, [hanging, say('Done.')])
      const url = await listen(app)
      const client = new AbortController()
      const asking = stream(url, { message: 'Hi', stream: mode }, client.signal)
      asking.then((response) => response.text()).catch(() => {})
      await until(() => requests.length === 1)
      client.abort()
      const left = performance.now()
      assert.equal(await requests[0]?.closed, 'left')
      assert.ok(performance.now() - left < 1000)
      await untilStored(app, 'interrupted')
      const next = await chat(app, { conversation_id: 'conv_00000001', message: 'Again' })
      assert.equal(next.json().status, 'completed')
    })
  }
})

/** A provider that writes as fast as it is read, and the bytes that it could write. */
function torrent() {
  const written = { bytes: 0 }
  const text = 'x'.repeat(16_000)
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
  const answer: Answer = (response) => {
    answers(begun, 'hang')(response)
    const pour = () => {
      while (!response.destroyed && written.bytes < 256 * 2 ** 20) {
        written.bytes += text.length
        if (!response.write(`data: ${JSON.stringify(delta)}\n\n`)) break
      }
    }
    response.on('drain', pour)
    pour()
  }
  return { written, answer }
}

/** Asks for a stream, and does not read it. */
async function deafClient(t: TestContext, app: TestApp) {
  const { port } = new URL(await listen(app))
  const body = JSON.stringify({ message: 'Hi', stream: true })
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  const head = `POST /api/v1/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
  return socket
}

suite('a client that does not read', { concurrency: 2 }, () => {
  test('slows the model down, until it reads again', async (t) => {
    const { written, answer } = torrent()
    const env = { MODEL_MAX_ANSWER_BYTES: String(2 ** 28), MODEL_IDLE_TIMEOUT_MS: '20000' }
    const { app } = await talk(t, [answer], { env, stallMs: 20_000 })
    const socket = await deafClient(t, app)
    let seen = { bytes: -1, at: 0 }
    await until(() => {
      if (written.bytes !== seen.bytes) seen = { bytes: written.bytes, at: performance.now() }
      return seen.bytes > 0 && performance.now() - seen.at > 300
    })
    assert.ok(written.bytes < 64 * 2 ** 20, `${written.bytes} bytes`)
    socket.resume()
    await until(() => written.bytes > seen.bytes + 2 ** 20)
    socket.destroy()
    await untilStored(app, 'interrupted')
  })

  test('is cut, and the model’s request with it', async (t) => {
    const { answer } = torrent()
    const { app, requests } = await talk(t, [answer], { stallMs: 300 })
    await deafClient(t, app)
    await until(() => requests.length === 1)
    assert.equal(await requests[0]?.closed, 'left')
    await untilStored(app, 'interrupted')
    assert.deepEqual(await statusOf(app), ['interrupted', 'cancelled'])
  })
})

suite('a service that closes', { concurrency: 2 }, () => {
  test('in mid-stream, after its grace: the last event is shutting_down', async (t) => {
    const DATABASE_URL = `sqlite:${await temporaryFolder(t)}/chat.db`
    const env = { SHUTDOWN_GRACE_MS: '100', DATABASE_URL }
    const { app, env: all, requests } = await talk(t, [hanging], { env })
    const url = await listen(app)
    const events = allOf(await stream(url, { message: 'Hi' }))
    const json = chat(app, { message: 'Hi' })
    await until(() => requests.length === 2)
    const begin = performance.now()
    await app.close()
    assert.ok(performance.now() - begin < 3000)
    const { event, data } = (await events).at(-1) ?? {}
    assert.deepEqual([event, data?.code, data?.status], ['error', 'shutting_down', 503])
    assert.match(`${data?.conversation_id} ${data?.turn_id}`, /^conv_\w+ turn_\w+$/)
    assert.ok((await json).statusCode >= 500)
    const next = await buildTestApp(t, { env: all })
    assert.deepEqual(await statusOf(next), ['interrupted', 'cancelled'])
  })

  test('lets a turn end within its grace, and takes no other', async (t) => {
    const { promise: gate, resolve } = Promise.withResolvers<void>()
    const script = [meanwhile(() => gate, say('Done.'))]
    const { app, requests } = await talk(t, script, { env: { SHUTDOWN_GRACE_MS: '10000' } })
    const reading = allOf(await stream(await listen(app), { message: 'Hi' }))
    await until(() => requests.length === 1)
    const closing = app.close()
    const refused = await chat(app, { message: 'Hi' })
    assert.deepEqual([refused.statusCode, refused.json().code], [503, 'shutting_down'])
    resolve()
    const events = await reading
    assert.equal(events.at(-1)?.event, 'turn.finished')
    assert.equal(events.at(-1)?.data.status, 'completed')
    await closing
  })
})
