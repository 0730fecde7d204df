import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Resolve } from '../../../src/agent/net/guarded-connect.ts'
import { openGuardedFetch } from '../../../src/agent/net/guarded-fetch.ts'
import { NetFault } from '../../../src/agent/net/net-fault.ts'
import { readAll, startSentinel, startServer } from './local-server.ts'

function open(t: TestContext, allowHosts = '', resolve?: Resolve) {
  const guarded = openGuardedFetch({ allowHosts, ...(resolve && { resolve }) })
  t.after(() => guarded.close())
  return guarded.fetch
}

/** Whatever fails, it fails with a sentence for whoever asked. */
const fault = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof NetFault, String(error))
  assert.match(error.message, pattern)
  assert.match(error.message, /^[A-Z].*\.$/)
  return true
}

const hosts = ['127.0.0.1', 'localhost', 'localhost.', '2130706433', '0x7f000001', '0177.0.0.1']
hosts.push('127.1', '0', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]')
hosts.push('①②⑦.0.0.1', 'user:pass@127.0.0.1', 'example.com@127.0.0.1', 'LOCALHOST')

test('no way to write this machine reaches it', async (t) => {
  const sentinel = await startSentinel(t)
  const fetch = open(t)
  for (const host of hosts) {
    const url = `http://${host}:${sentinel.port}/`
    await assert.rejects(fetch(url), fault(/not allowed|user name/), url)
    await assert.rejects(fetch(url, { method: 'POST', body: 'x' }), NetFault, url)
  }
  for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'gopher://127.0.0.1/', 'x', '']) {
    await assert.rejects(fetch(url), fault(/http|cannot be read/), url)
  }
  assert.equal(sentinel.connections, 0)
})

const LOOPBACK = { address: '127.0.0.1', family: 4 }
const PUBLIC = { address: '8.8.8.8', family: 4 }
const answers = {
  loopback: [LOOPBACK],
  'loopback behind a public one': [PUBLIC, LOOPBACK],
  'a mapped one': [{ address: '::ffff:127.0.0.1', family: 6 }],
  'a link-local one': [{ address: '169.254.169.254', family: 4 }],
}

for (const [title, addresses] of Object.entries(answers)) {
  test(`a name that resolves to ${title} is refused`, async (t) => {
    const sentinel = await startSentinel(t)
    const fetch = open(t, '', async () => addresses)
    const url = `http://innocent.example:${sentinel.port}/`
    await assert.rejects(fetch(url), fault(/innocent\.example has an address/))
    assert.equal(sentinel.connections, 0)
  })
}

test('a name is resolved once for a connection, which goes where the check looked', async (t) => {
  const sentinel = await startSentinel(t)
  const rebinding = [[PUBLIC], [LOOPBACK]]
  const asked: string[] = []
  const fetch = open(t, '', async (hostname) => {
    asked.push(hostname)
    return rebinding.shift() ?? [LOOPBACK]
  })
  const url = `http://rebinding.example:${sentinel.port}/`
  await assert.rejects(fetch(url, { signal: AbortSignal.timeout(200) }))
  assert.deepEqual(asked, ['rebinding.example'])
  await assert.rejects(fetch(url), fault(/rebinding\.example has an address/))
  assert.equal(sentinel.connections, 0)
})

test('an allowed name is reached at the address it resolved to', async (t) => {
  const server = await startServer(t, (request, response) => response.end(request.headers.host))
  const fetch = open(t, `tools.example:${server.port}`, async () => [LOOPBACK])
  const response = await fetch(`http://tools.example:${server.port}/`)
  assert.equal(await response.text(), `tools.example:${server.port}`)
  await assert.rejects(fetch(`http://other.example:${server.port}/`), fault(/other\.example has/))
  await assert.rejects(fetch(`${server.url}/`), fault(/not allowed/))
})

test('a name that cannot be resolved, and a port where nobody listens, are told of', async (t) => {
  const missing = Object.assign(new Error('x'), { code: 'ENOTFOUND' })
  const fetch = open(t, '127.0.0.1', () => Promise.reject(missing))
  await assert.rejects(fetch('http://gone.example/'), fault(/cannot be resolved/))
  const nobody = open(t, '127.0.0.1', async () => [])
  await assert.rejects(nobody('http://gone.example/'), fault(/has no address/))
  await assert.rejects(fetch('http://127.0.0.1:1/'), fault(/refuses connections|request failed/))
})

const targets = (port: number) => ({
  '302 to loopback': [302, `http://127.0.0.1:${port}/`],
  '307 to loopback': [307, `http://127.0.0.1:${port}/post`],
  'a relative one to loopback': [302, `//127.0.0.1:${port}/`],
  'a mapped address': [302, `http://[::ffff:127.0.0.1]:${port}/`],
  'a decimal address': [301, `http://2130706433:${port}/`],
  'a user name': [302, `http://a:b@127.0.0.1:${port}/`],
  'a file': [302, 'file:///etc/passwd'],
  'no URL': [302, 'http://[:'],
  'the metadata of a cloud': [308, 'http://169.254.169.254/latest/'],
})

for (const title of Object.keys(targets(0)) as (keyof ReturnType<typeof targets>)[]) {
  test(`a redirect is checked like the first address: ${title}`, async (t) => {
    const sentinel = await startSentinel(t)
    const [status, location] = targets(sentinel.port)[title]
    const server = await startServer(t, (request, response) => {
      if (request.url === '/first') response.writeHead(302, { location: '/second' }).end()
      else response.writeHead(Number(status), { location: String(location) }).end('moved')
    })
    const fetch = open(t, `127.0.0.1:${server.port}`)
    for (const init of [{}, { method: 'POST', body: 'a body' }]) {
      for (const path of ['/first', '/second']) {
        await assert.rejects(fetch(server.url + path, init), NetFault)
      }
    }
    assert.equal(sentinel.connections, 0)
  })
}

test('a redirect with a user name is not followed, though its host is allowed', async (t) => {
  const server = await startServer(t, ({ url, headers }, response) => {
    const location = `http://a:b@${headers.host}/arrived`
    if (url === '/arrived') response.end('arrived')
    else response.writeHead(302, { location }).end()
  })
  await assert.rejects(open(t, '127.0.0.1')(server.url), fault(/user name/))
})

interface Seen {
  method: string | undefined
  url: string | undefined
  headers: NodeJS.Dict<string | string[]>
  body: string
}

/** Two origins: the first redirects as its path says (`/307/TARGET`), both tell what they saw. */
async function startTwo(t: TestContext) {
  const server = () =>
    startServer(t, async (request, response) => {
      const [, status, ...rest] = String(request.url).split('/')
      if (Number(status)) {
        const location = decodeURIComponent(rest.join('/'))
        response.writeHead(Number(status), { location }).end('moved')
        return
      }
      const { method, url, headers } = request
      response.end(JSON.stringify({ method, url, headers, body: await readAll(request) }))
    })
  const [first, second] = [await server(), await server()]
  const fetch = open(t, `127.0.0.1:${first.port},127.0.0.1:${second.port}`)
  const seen = async (url: string, init: RequestInit): Promise<Seen> =>
    JSON.parse(await (await fetch(url, init)).text())
  return { first, second, fetch, seen }
}

const CREDENTIALS = {
  authorization: 'Bearer s',
  cookie: 'a=b',
  'x-api-key': 's',
  'x-own': 's',
  'proxy-authorization': 's',
}

test('another origin gets no credentials, the same one keeps them', async (t) => {
  const { first, second, seen } = await startTwo(t)
  const headers = { ...CREDENTIALS, accept: 'text/plain', 'user-agent': 'me' }
  const same = await seen(`${first.url}/302/%2Fx`, { headers })
  assert.equal(same.headers.authorization, 'Bearer s')
  assert.equal(same.headers['x-own'], 's')

  for (const status of [301, 302, 303, 307, 308]) {
    const url = `${first.url}/${status}/${encodeURIComponent(`${second.url}/there`)}`
    const other = await seen(url, { headers })
    for (const name of Object.keys(CREDENTIALS)) assert.equal(other.headers[name], undefined, name)
    assert.equal(other.headers.accept, 'text/plain')
    assert.equal(other.headers['user-agent'], 'me')
  }
})

test('what was left behind at another origin does not come back on the way home', async (t) => {
  const { first, second, seen } = await startTwo(t)
  const back = `${second.url}/302/${encodeURIComponent(`${first.url}/home`)}`
  const url = `${first.url}/302/${encodeURIComponent(back)}`
  assert.equal((await seen(url, { headers: CREDENTIALS })).headers.authorization, undefined)
})

test('a redirect makes a GET of a POST where the standard says so, else keeps it', async (t) => {
  const { first, seen } = await startTwo(t)
  const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } }
  for (const status of [301, 302, 303]) {
    const { method, body, headers } = await seen(`${first.url}/${status}/%2Fx`, init)
    assert.deepEqual([method, body, headers['content-type']], ['GET', '', undefined])
  }
  for (const status of [307, 308]) {
    const { method, body, headers } = await seen(`${first.url}/${status}/%2Fx`, init)
    assert.deepEqual([method, body], ['POST', '{"a":1}'])
    assert.equal(headers['content-type'], 'application/json')
  }
  const deleted = await seen(`${first.url}/302/%2Fx`, { method: 'DELETE' })
  assert.equal(deleted.method, 'DELETE')
})

test('no body goes to another origin', async (t) => {
  const { first, second, fetch } = await startTwo(t)
  const url = `${first.url}/307/${encodeURIComponent(`${second.url}/there`)}`
  await assert.rejects(fetch(url, { method: 'POST', body: 's' }), fault(/body is not sent/))
  assert.equal(second.connections, 0)
})

test('five redirects are followed, and no sixth', async (t) => {
  const server = await startServer(t, ({ url }, response) => {
    const left = Number(String(url).slice(1))
    if (left === 0) response.end('arrived')
    else response.writeHead(302, { location: `/${left - 1}` }).end()
  })
  const fetch = open(t, '127.0.0.1')
  assert.equal(await (await fetch(`${server.url}/5`)).text(), 'arrived')
  await assert.rejects(fetch(`${server.url}/6`), fault(/too often/))
})

test('redirects are the caller’s where it asks for that', async (t) => {
  const { first, second, fetch } = await startTwo(t)
  const url = `${first.url}/302/${encodeURIComponent(second.url)}`
  const manual = await fetch(url, { redirect: 'manual' })
  assert.deepEqual([manual.status, manual.headers.get('location')], [302, second.url])
  await assert.rejects(fetch(url, { redirect: 'error' }), fault(/redirects/))
  assert.equal(second.connections, 0)
})

test('takes what fetch takes', async (t) => {
  const { first, fetch } = await startTwo(t)
  const request = new Request(`${first.url}/x`, { method: 'PUT', body: 'sent' })
  assert.match(await (await fetch(request)).text(), /"PUT".*"body":"sent"/)
  assert.match(await (await fetch(new URL(`${first.url}/y`))).text(), /"GET".*"url":"\/y"/)
})

test('a signal ends a request that never answers, and one that never ends', async (t) => {
  const server = await startServer(t, ({ url }, response) => {
    if (url === '/body') response.write('the beginning')
  })
  const fetch = open(t, '127.0.0.1')
  const silent = fetch(`${server.url}/headers`, { signal: AbortSignal.timeout(50) })
  await assert.rejects(silent, { name: 'TimeoutError' })
  const response = await fetch(`${server.url}/body`, { signal: AbortSignal.timeout(200) })
  await assert.rejects(response.text(), { name: 'TimeoutError' })
  const reason = new Error('the turn was cancelled')
  const aborted = fetch(`${server.url}/x`, { signal: AbortSignal.abort(reason) })
  await assert.rejects(aborted, reason)
})

test('knows no proxy of the environment', async (t) => {
  const sentinel = await startSentinel(t)
  const server = await startServer(t, (_request, response) => response.end('direct'))
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
    const before = process.env[name]
    process.env[name] = sentinel.url
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
  const response = await open(t, '127.0.0.1')(`${server.url}/`)
  assert.equal(await response.text(), 'direct')
  assert.equal(sentinel.connections, 0)
})
