import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { AppError } from '../../src/errors.ts'
import { anthropic, ask, openAi, request } from './ask-model.ts'
import {
  type Answer,
  fakeProvider,
  flood,
  raw,
  refuse,
  reset,
  silence,
  stream,
} from './fake-provider.ts'
import {
  anthropicTurn,
  delta,
  finish,
  messageStart,
  messageStop,
  openAiTurn,
  ping,
  textBlock,
} from './wire.ts'

const SOON = { 'retry-after-ms': '5' }
const begun = [messageStart, ping, ...textBlock(0, 'half of an ans').slice(0, 2)]
const openAiBegun = [delta({ role: 'assistant', content: '' }), delta({ content: 'half' })]
const comments = flood(begun, ': \n', 20)
const endless = flood(
  [delta({ content: 'x' })],
  `data: ${JSON.stringify(delta({ content: 'x'.repeat(5000) }))}\n\n`,
  1,
)
const endlessLine = flood([], `data: ${'x'.repeat(5000)}`, 1)
const garbage = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 131) % 256))
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'CANARY' } }

/** The error that the model rejects with, of which nothing but our own words may be seen. */
async function failure(t: TestContext, model: typeof anthropic, env: object, ...script: Answer[]) {
  const { url, requests } = await fakeProvider(t, ...script)
  const error = await ask(model(t, url, { ...env })).then(
    () => assert.fail('It answered.'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AppError, inspect(error))
  assert.doesNotMatch(inspect(error, { depth: 9 }), /CANARY|sk-1|key-4711|127\.0\.0\.1|log in/)
  await requests.at(-1)?.closed
  const { code, retryAfter } = error
  return { code, retryAfter, calls: requests.length }
}

const three = (answer: Answer) => [answer, answer, answer, answer]
const small = { MODEL_MAX_ANSWER_BYTES: '100000' }
const impatient = { MODEL_TIMEOUT_MS: '300', MODEL_IDLE_TIMEOUT_MS: '300' }

const error = (calls: number) => ({ code: 'model_error', retryAfter: undefined, calls })
const timeout = (calls: number) => ({ code: 'model_timeout', retryAfter: undefined, calls })
const unavailable = (retryAfter: number, calls: number) => ({
  code: 'model_unavailable',
  retryAfter,
  calls,
})

suite('a provider that fails', { concurrency: 8 }, () => {
  for (const [what, model, script, expected] of [
    [
      '429 for a day',
      anthropic,
      three(refuse(429, { 'retry-after': '86400' })),
      unavailable(3600, 1),
    ],
    [
      '429 for two minutes',
      openAi,
      three(refuse(429, { 'retry-after': '120' })),
      unavailable(120, 1),
    ],
    ['429 again and again', openAi, three(refuse(429, SOON)), unavailable(1, 3)],
    ['503', openAi, three(refuse(503)), unavailable(10, 3)],
    ['529', anthropic, three(refuse(529, SOON)), unavailable(1, 3)],
    ['overload told in the stream', anthropic, three(stream([overloaded])), unavailable(10, 3)],
    ['500', anthropic, three(refuse(500, SOON)), error(3)],
    ['500 on the other wire', openAi, three(refuse(500, SOON)), error(3)],
    [
      '502 that is gone for long',
      openAi,
      three(refuse(502, { 'retry-after': '900' })),
      unavailable(900, 1),
    ],
    ['408', openAi, three(refuse(408, SOON)), timeout(3)],
    ['409', openAi, three(refuse(409, SOON)), error(3)],
    ['400', anthropic, three(refuse(400)), error(1)],
    ['401 with a key in the body', anthropic, three(refuse(401)), error(1)],
    ['401 on the other wire', openAi, three(refuse(401)), error(1)],
    ['403', openAi, three(refuse(403)), error(1)],
    ['404', anthropic, three(refuse(404)), error(1)],
    ['422', openAi, three(refuse(422)), error(1)],
    ['a redirect', openAi, three(refuse(302, { location: 'http://127.0.0.1:1/' })), error(3)],
    ['nobody answers the call', openAi, three(reset), unavailable(10, 3)],
    ['silence', anthropic, three(silence), timeout(1)],
    ['silence on the other wire', openAi, three(silence), timeout(1)],
    ['headers, then silence', openAi, three(stream([], 'hang')), timeout(1)],
    ['silence half way', anthropic, three(stream(begun, 'hang')), timeout(1)],
    ['silence half way on the other wire', openAi, three(stream(openAiBegun, 'hang')), timeout(1)],
    ['a drip of comments', anthropic, three(comments), timeout(1)],
    ['cut', anthropic, three(stream(begun, 'cut')), error(1)],
    ['cut on the other wire', openAi, three(stream(openAiBegun, 'cut')), error(1)],
    ['ended half way', anthropic, three(stream(begun)), error(1)],
    ['ended half way on the other wire', openAi, three(stream(openAiBegun)), error(1)],
    ['cut before a word', anthropic, three(stream([messageStart], 'cut')), error(3)],
    [
      'cut before a word on the other wire',
      openAi,
      three(stream(openAiBegun.slice(0, 1), 'cut')),
      error(3),
    ],
    [
      'cut within the JSON',
      anthropic,
      three(stream([...begun, 'data: {"type":"content_blo'], 'cut')),
      error(1),
    ],
    ['bad JSON', openAi, three(stream([...openAiBegun, 'data: {"id":\n\n'])), error(1)],
    ['an error in the stream', openAi, three(stream([{ error: { message: 'CANARY' } }])), error(3)],
    ['an HTML page', anthropic, three(raw('text/html', '<p>Please log in.</p>')), error(3)],
    ['garbage', openAi, three(raw('text/event-stream', garbage)), error(3)],
    ['nothing', anthropic, three(raw('application/json', '')), error(3)],
    ['nothing on the other wire', openAi, three(raw('application/json', '')), error(3)],
    ['no content', openAi, three((response) => response.writeHead(204).end()), error(3)],
    [
      'an answer without a word',
      anthropic,
      three(stream([messageStart, ...messageStop('end_turn')])),
      error(3),
    ],
    ['only blanks', openAi, three(stream([delta({ content: ' \n' }), finish('stop')])), error(1)],
    [
      'a refusal to speak',
      anthropic,
      three(stream([messageStart, ...messageStop('refusal')])),
      error(1),
    ],
    ['all tokens spent on nothing', openAi, three(stream([delta({}), finish('length')])), error(1)],
    ['an endless answer', openAi, three(endless), error(1)],
    ['an endless line', openAi, three(endlessLine), error(1)],
    [
      'an endless error',
      openAi,
      three((response) => {
        response.statusCode = 500
        endlessLine(response)
      }),
      error(1),
    ],
  ] as const) {
    test(`${what}: ${expected.code} after ${expected.calls} calls`, async (t) => {
      const limits = expected.code === 'model_timeout' ? impatient : small
      assert.deepEqual(await failure(t, model, limits, ...script), expected)
    })
  }

  test('a server that is not there is unavailable', async (t) => {
    const model = openAi(t, 'http://127.0.0.1:1')
    await assert.rejects(ask(model), { code: 'model_unavailable', status: 503, retryAfter: 10 })
  })

  test('an answer that never ends is late as a whole', async (t) => {
    const slowly = flood(begun, `data: ${JSON.stringify(ping)}\n\n`, 20)
    const limits = { ...impatient, MODEL_ANSWER_TIMEOUT_MS: '600' }
    assert.deepEqual(await failure(t, anthropic, limits, slowly), timeout(1))
  })

  test('waiting for another try counts as part of the answer', async (t) => {
    const limits = { MODEL_ANSWER_TIMEOUT_MS: '500' }
    const later = refuse(429, { 'retry-after': '30' })
    assert.deepEqual(await failure(t, anthropic, limits, later), timeout(1))
  })

  test('a provider is asked again when it says, and answers', async (t) => {
    const script = [refuse(429, { 'retry-after': '1' }), refuse(429, SOON), stream(anthropicTurn)]
    const { url, requests } = await fakeProvider(t, ...script)
    const started = performance.now()
    assert.deepEqual((await ask(anthropic(t, url))).deltas, ['One ', 'moment.'])
    assert.equal(requests.length, 3)
    assert.ok(performance.now() - started >= 950)
  })

  test('a date is a time to come back, too', async (t) => {
    const past = { 'retry-after': new Date(Date.now() + 1000).toUTCString() }
    const { url } = await fakeProvider(t, refuse(503, past), stream(openAiTurn))
    assert.deepEqual((await ask(openAi(t, url))).deltas, ['One ', 'moment.'])
  })

  test('a stream that breaks before its first word is asked for again', async (t) => {
    const script = [stream([messageStart], 'cut'), reset, stream(anthropicTurn)]
    const { url } = await fakeProvider(t, ...script)
    assert.deepEqual((await ask(anthropic(t, url))).deltas, ['One ', 'moment.'])
  })

  test('a message that is whole is not lost when the connection then breaks or stays', async (t) => {
    for (const ending of ['cut', 'hang'] as const) {
      const { url, requests } = await fakeProvider(t, stream(anthropicTurn, ending))
      assert.equal((await ask(anthropic(t, url))).message.content.length, 2)
      assert.equal(requests.length, 1)
    }
  })
})

suite('a caller that leaves', { concurrency: 8 }, () => {
  for (const [what, script] of [
    ['before the headers', silence],
    ['before the first part', stream([], 'hang')],
    ['half way', stream(begun, 'hang')],
    ['while it waits for another try', refuse(429, { 'retry-after': '30' })],
  ] as const) {
    test(`${what} has its own reason back, and the connection ends`, async (t) => {
      const { url, requests } = await fakeProvider(t, script)
      const controller = new AbortController()
      const asked = ask(anthropic(t, url), request({ signal: controller.signal }))
      const reason = new Error('gone')
      setTimeout(() => controller.abort(reason), 100)
      await assert.rejects(asked, (error) => error === reason)
      await requests[0]?.closed
    })
  }

  test('that left before it asked reaches no provider', async (t) => {
    const { url, requests } = await fakeProvider(t)
    const reason = new Error('gone')
    const asked = ask(anthropic(t, url), request({ signal: AbortSignal.abort(reason) }))
    await assert.rejects(asked, (error) => error === reason)
    assert.equal(requests.length, 0)
  })

  test('that stops reading ends the connection', async (t) => {
    for (const [model, events] of [
      [anthropic, begun],
      [openAi, openAiBegun],
    ] as const) {
      const { url, requests } = await fakeProvider(t, stream(events, 'hang'))
      for await (const { text } of model(t, url)(request())) {
        assert.match(text, /^half/)
        break
      }
      assert.equal(await requests[0]?.closed, 'left')
    }
  })
})
