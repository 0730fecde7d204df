import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { HttpRequest, HttpTool } from '../../../src/agent/http-tools/http-tool.ts'
import { httpTools } from '../../../src/agent/http-tools/http-tools.ts'
import { openGuardedFetch } from '../../../src/agent/net/guarded-fetch.ts'
import { ToolError, type ToolInput } from '../../../src/agent/tool.ts'
import { createDefinitionStore } from '../../../src/store/definition-store.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { readAll, startSentinel, startServer } from '../net/local-server.ts'

const MEBIBYTE = 1024 * 1024
const ENV = {
  SHOP_TOKEN: 'tok-"42"/äß',
  SHORT: 'abc',
  ADMIN_KEY: 'an-admin-key-of-the-service',
  EMPTY: '',
}
const GET: HttpRequest = { method: 'GET', url: '/', headers: {}, body: null }

type Changes = Partial<Omit<HttpTool, 'request'>> & { request?: Partial<HttpRequest> }

/** A tool over a server of its own, called by what the store and the source make of it. */
async function toolOf(t: TestContext, listener: RequestListener, changes: Changes = {}) {
  const server = await startServer(t, listener)
  const guarded = openGuardedFetch({ allowHosts: `127.0.0.1:${server.port}` })
  const db = await openDatabase('sqlite::memory:')
  t.after(async () => {
    await guarded.close()
    await db.destroy()
  })
  const request = { ...GET, ...changes.request }
  if (request.url.startsWith('/')) request.url = server.url + request.url
  const defaults = { description: 'A tool.', inputSchema: { type: 'object' }, timeoutMs: 20_000 }
  const tool = { ...defaults, approval: false, idempotent: true, ...changes, request }
  const definitions = createDefinitionStore<HttpTool>(db, 'tools')
  await definitions.put('shop', tool)
  const source = httpTools({ definitions, fetch: guarded.fetch, env: ENV })
  const [made] = await source.tools({ conversationId: 'conv_1', loads: new Map() })
  assert.ok(made)
  const run = async (input: ToolInput = {}, signal = new AbortController().signal) =>
    (await made.run(input, { signal, conversationId: 'conv_1', callId: 'call_1' })).text
  return { server, run, made }
}

/** Answers with what it was sent. */
const echo: RequestListener = async (request, response) => {
  const { method, url, headers } = request
  response.end(JSON.stringify({ method, url, headers, body: await readAll(request) }))
}

const toolError = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ToolError, String(error))
  assert.match(error.message, pattern)
  assert.doesNotMatch(error.message, /tok-/)
  return true
}

test('a definition becomes a tool as the loop takes it', async (t) => {
  const schema = { type: 'object', properties: { id: { type: 'string' } } }
  const { made } = await toolOf(t, echo, { inputSchema: schema, approval: true, idempotent: false })
  const { name, description, inputSchema, idempotent } = made
  assert.deepEqual([name, description, inputSchema], ['shop', 'A tool.', schema])
  assert.deepEqual([idempotent, made.needsApproval?.({})], [false, true])
})

const urls: [url: string, input: ToolInput, sent: string | RegExp][] = [
  ['/orders/{{input.id}}', { id: 'a/b?c#d%2e e' }, '/orders/a%2Fb%3Fc%23d%252e%20e'],
  ['/o/{{ input.id }}/{{input.n}}.json', { id: '訂單', n: 7 }, '/o/%E8%A8%82%E5%96%AE/7.json'],
  ['/o?q={{input.q}}&x=1', { q: 'a&b=c d+' }, '/o?q=a%26b%3Dc%20d%2B&x=1'],
  ['/o?q={{input.q}}&page={{input.page}}&x=', {}, '/o?x='],
  ['/o?q=all-{{input.q}}', { q: null }, '/o?q=all-'],
  ['/o?f={{input.filter}}', { filter: { a: [1] } }, '/o?f=%7B%22a%22%3A%5B1%5D%7D'],
  ['/o/{{input.items.1.id}}', { items: [{ id: 1 }, { id: 2 }] }, '/o/2'],
  ['/o/{{input.constructor}}{{input.a.length}}-', { a: [1, 2] }, '/o/2-'],
  ['/o/{{input.a.__proto__}}-', { a: {} }, '/o/-'],
  ['/o?k={{env.SHORT}}#part', {}, '/o?k=abc'],
  ['/o?x={{input.x}}', { x: '{{env.SHORT}}' }, '/o?x=%7B%7Benv.SHORT%7D%7D'],
  ['/o?x={{input.x}}', { x: 'half \ud800' }, '/o?x=half%20%EF%BF%BD'],
]

for (const [url, input, sent] of urls) {
  test(`the URL ${url} with ${JSON.stringify(input)}`, async (t) => {
    const { run } = await toolOf(t, echo, { request: { url } })
    assert.equal(JSON.parse(await run(input)).url, sent)
  })
}

test('no input leads out of the path that was set up', async (t) => {
  const { run, server } = await toolOf(t, echo, { request: { url: '/o/{{input.id}}/x' } })
  for (const id of ['.', '..']) {
    await assert.rejects(run({ id }), toolError(/out of the path/))
  }
  assert.equal(server.connections, 0)
  for (const id of [
    '../..',
    '..\\..',
    '%2e%2e',
    '..;',
    '//evil.example',
    '@evil.example',
    '\t..',
  ]) {
    assert.match(JSON.parse(await run({ id })).url, /^\/o\/[^/]+\/x$/, id)
  }
  const split = await toolOf(t, echo, { request: { url: '/o/.{{input.a}}/x' } })
  await assert.rejects(split.run({ a: '.' }), toolError(/out of the path/))
})

test('headers take templates, and nothing in them ends a line', async (t) => {
  const headers = {
    Authorization: 'Bearer {{env.SHORT}}',
    'X-Input': 'a {{input.x}} b',
    'X-Left-Out': '{{input.none}}',
    'X-Empty': 'e{{input.none}}',
  }
  const { run } = await toolOf(t, echo, { request: { headers } })
  const sent = JSON.parse(await run({ x: '1\r\nx-forged: yes\0\u0085é' })).headers
  assert.equal(sent.authorization, 'Bearer [secret]'.replace('[secret]', 'abc'))
  assert.equal(Buffer.from(sent['x-input'], 'latin1').toString(), 'a 1  x-forged: yes  é b')
  assert.deepEqual(
    [sent['x-forged'], sent['x-left-out'], sent['x-empty']],
    [undefined, undefined, 'e'],
  )
  assert.equal(sent['user-agent'], 'loadskill')
})

test('a JSON body keeps the type of what is one template, and leaves out what has no value', async (t) => {
  const body = {
    n: '{{input.n}}',
    text: 'n is {{input.n}}',
    list: ['{{input.none}}', '{{input.list}}', 1, null],
    none: '{{input.none}}',
    nothing: '{{input.nothing}}',
    deep: { flag: '{{input.flag}}', fixed: true },
  }
  const { run } = await toolOf(t, echo, { request: { method: 'POST', body } })
  const input = { n: 5, list: [{ a: 'x' }], flag: false, nothing: null }
  const sent = JSON.parse(await run(input))
  assert.equal(sent.headers['content-type'], 'application/json')
  assert.deepEqual(JSON.parse(sent.body), {
    n: 5,
    text: 'n is 5',
    list: [[{ a: 'x' }], 1, null],
    nothing: null,
    deep: { flag: false, fixed: true },
  })
})

test('a body of text is text, under the media type that the tool names', async (t) => {
  const request = { method: 'PUT', body: 'q={{input.q}}', headers: { 'Content-Type': 'text/x-q' } }
  const { run } = await toolOf(t, echo, { request: { ...request, method: 'PUT' } })
  const sent = JSON.parse(await run({ q: { a: 1 } }))
  assert.deepEqual([sent.body, sent.headers['content-type']], ['q={"a":1}', 'text/x-q'])
  const plain = await toolOf(t, echo, { request: { method: 'POST', body: 'x' } })
  assert.match(JSON.parse(await plain.run()).headers['content-type'], /^text\/plain/)
})

test('a secret goes out and never comes back', async (t) => {
  const headers = { authorization: 'Bearer {{env.SHOP_TOKEN}}' }
  const url = '/o?key={{env.SHOP_TOKEN}}'
  const body = { key: '{{env.SHOP_TOKEN}}' }
  const received: string[] = []
  const { run } = await toolOf(
    t,
    async (request, response) => {
      const sent = await readAll(request)
      const authorization = Buffer.from(String(request.headers.authorization), 'latin1').toString()
      received.push(authorization, String(request.url), sent)
      if (received.length > 3) response.statusCode = 500
      response.end(`${authorization} ${request.url} ${sent}`)
    },
    { request: { method: 'POST', url, headers, body } },
  )
  const masked = 'Bearer [secret] /o?key=[secret] {"key":"[secret]"}'
  assert.equal(await run(), masked)
  assert.equal(received[0], `Bearer ${ENV.SHOP_TOKEN}`)
  assert.equal(received[1], `/o?key=${encodeURIComponent(ENV.SHOP_TOKEN)}`)
  assert.deepEqual(JSON.parse(String(received[2])), { key: ENV.SHOP_TOKEN })
  await assert.rejects(run(), { message: `HTTP 500: ${masked}` })
})

for (const name of ['MISSING', 'EMPTY', 'ADMIN_KEY', 'toString']) {
  test(`a variable that is not to be had is named, and no request is made: ${name}`, async (t) => {
    const headers = { authorization: `{{env.${name}}}` }
    const { run, server } = await toolOf(t, echo, { request: { headers } })
    await assert.rejects(run(), toolError(RegExp(`${name}, which the tool needs, is not set`)))
    assert.equal(server.connections, 0)
  })
}

test('an answer is its text, as it came', async (t) => {
  const text = '{"b": 1,  "a": "é"}\n'
  const { run } = await toolOf(t, (_, response) => response.end(text))
  assert.equal(await run(), text)
  const empty = await toolOf(t, (_, response) => response.writeHead(204).end())
  assert.equal(await empty.run(), 'HTTP 204, without a body.')
})

for (const bytes of [Buffer.from([0xff, 0xfe, 0x41]), Buffer.from('a\0b')]) {
  test(`what is no text is told by type and size: ${bytes.toString('hex')}`, async (t) => {
    const { run } = await toolOf(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'image/x-test' }).end(bytes)
    })
    assert.equal(await run(), 'The answer is no text, but 3 bytes of image/x-test.')
  })
}

test('a refusal is an error result with its status and the beginning of its body', async (t) => {
  const { run } = await toolOf(t, (_, response) => {
    response.writeHead(404).end(`{"error":"no such order"}${' '.repeat(5000)}`)
  })
  await assert.rejects(run(), (error) => {
    toolError(/^HTTP 404: \{"error":"no such order"\}/)(error)
    assert.ok(String(error).length < 2100)
    return true
  })
  const silent = await toolOf(t, (_, response) => response.writeHead(503).end())
  await assert.rejects(silent.run(), toolError(/^HTTP 503: without a body$/))
  const still = await toolOf(t, (_, response) => response.writeHead(304).end())
  await assert.rejects(still.run(), toolError(/^HTTP 304/))
})

const cut = /\n\[These are the first 10485760 bytes: the rest was not read\.\]$/

test('of an answer that does not end, ten MiB are read', async (t) => {
  const chunk = Buffer.alloc(MEBIBYTE, 'é')
  let left = false
  const { run } = await toolOf(t, (request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    request.socket.on('close', () => {
      left = true
    })
    more()
  })
  const text = await run()
  assert.match(text.slice(-100), cut)
  assert.ok(text.length < 10 * MEBIBYTE + 100)
  while (!left) await new Promise(setImmediate)
})

test('an answer that is inflated without end is cut at ten MiB of what it inflates to', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE, 'a'))
  const { run } = await toolOf(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const text = await run()
  assert.match(text.slice(-100), cut)
  assert.ok(text.length < 10 * MEBIBYTE + 100)
})

test('an answer that is cut in the middle of a character stays text', async (t) => {
  const { run } = await toolOf(t, (_, response) => {
    response.end(Buffer.concat([Buffer.from('a'), Buffer.alloc(11 * MEBIBYTE, 'é')]))
  })
  assert.match((await run()).slice(-100), /é\n\[These are/)
})

const broken: Record<string, [listener: RequestListener, told: RegExp]> = {
  'claims to be compressed': [
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    /not compressed as it says/,
  ],
  'is not HTTP': [(_, response) => response.socket?.end('nonsense\r\n\r\n'), /not valid HTTP/],
  'is cut': [
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('the beginning', () => response.destroy())
    },
    /closed the connection/,
  ],
  'never comes': [() => undefined, /took longer than 200 ms/],
  'never ends': [(_, response) => void response.write('the beginning'), /took longer than 200 ms/],
  'leads in circles': [
    (_, response) => response.writeHead(302, { location: '/again' }).end(),
    /redirects too often/,
  ],
}

for (const [title, [listener, told]] of Object.entries(broken)) {
  test(`an answer that ${title} is an error result`, async (t) => {
    const { run } = await toolOf(t, listener, {
      timeoutMs: /200 ms/.test(told.source) ? 200 : 9000,
    })
    await assert.rejects(run(), toolError(told))
  })
}

test('a redirect to where no request may go is an error result, and goes nowhere', async (t) => {
  const sentinel = await startSentinel(t)
  const { run } = await toolOf(t, (_, response) => {
    response.writeHead(307, { location: `${sentinel.url}/?{{env.SHOP_TOKEN}}` }).end()
  })
  await assert.rejects(run(), toolError(/127\.0\.0\.1 is not on the public internet/))
  assert.equal(sentinel.connections, 0)
})

test('a call ends with its turn, by the reason of the turn', async (t) => {
  const reason = new Error('the turn was cancelled')
  const controller = new AbortController()
  const { run } = await toolOf(t, () => controller.abort(reason))
  await assert.rejects(run({}, controller.signal), reason)
})
