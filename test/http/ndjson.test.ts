import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { AppError } from '../../src/errors.ts'
import { sendLines } from '../../src/http/ndjson.ts'
import { until } from '../agent/talk.ts'

/** A service of one route that sends these lines. */
async function serve(t: TestContext, lines: AsyncIterable<object>, stallMs?: number) {
  const app = Fastify()
  t.after(() => app.close())
  app.get('/', async (_, reply) => sendLines(reply.header('x-mine', 'kept'), lines, stallMs))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, port: (app.server.address() as AddressInfo).port }
}

function endless() {
  const state = { asked: 0, closed: false }
  async function* lines() {
    try {
      for (; ; state.asked++) yield { text: 'x'.repeat(65_536) }
    } finally {
      state.closed = true
    }
  }
  return { state, lines: lines() }
}

test('each value is a line, and headers that were set are kept', async (t) => {
  async function* lines() {
    yield { text: 'one\ntwo' }
    yield { text: 'three' }
  }
  const { url } = await serve(t, lines())
  const response = await fetch(url)
  assert.equal(response.headers.get('x-mine'), 'kept')
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  assert.equal(await response.text(), '{"text":"one\\ntwo"}\n{"text":"three"}\n')
})

test('a failure is a last line with the problem, and a bug tells nothing of itself', async (t) => {
  for (const [error, code] of [
    [new AppError('storage_busy', 'Later.'), 'storage_busy'],
    [new Error('A secret.'), 'internal'],
  ] as const) {
    async function* lines() {
      yield { text: 'one' }
      throw error
    }
    const { url } = await serve(t, lines())
    const [first, last = '', ...more] = (await (await fetch(url)).text()).split('\n')
    assert.equal(first, '{"text":"one"}')
    assert.equal(JSON.parse(last).code, code)
    assert.doesNotMatch(last, /secret/)
    assert.deepEqual(more, [''])
  }
})

test('a client that does not read is asked for nothing more, and is cut', async (t) => {
  const { lines, state } = endless()
  const { port } = await serve(t, lines, 300)
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await until(() => state.closed)
  assert.ok(state.asked < 1000, `${state.asked} lines`)
})

test('a client that leaves ends the lines', async (t) => {
  const { lines, state } = endless()
  const { url } = await serve(t, lines)
  const leaving = new AbortController()
  const response = await fetch(url, { signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await until(() => state.closed)
})
