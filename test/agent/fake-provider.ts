import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Answer = (response: ServerResponse) => void

interface ReceivedRequest {
  url: string | undefined
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  port: number | undefined
  /** Resolves when its connection has ended or its answer is out. */
  closed: Promise<'answered' | 'left'>
}

/** A model provider on a port of its own: answers from a script and keeps what it was sent. */
export async function fakeProvider(t: TestContext, ...script: Answer[]) {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const port = request.socket.remotePort
    const { promise: closed, resolve } = Promise.withResolvers<'answered' | 'left'>()
    response.on('close', () => resolve(response.writableFinished ? 'answered' : 'left'))
    const chunks = await request.toArray()
    const body = JSON.parse(Buffer.concat(chunks).toString())
    requests.push({ url: request.url, headers: request.headers, body, port, closed })
    const answer = script.shift()
    if (answer) answer(response)
    else response.writeHead(400).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** An error with a word that must not be told any further. */
export const refuse =
  (status: number, headers: Record<string, string> = {}, message = 'CANARY sk-12345'): Answer =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ type: 'error', error: { type: 'some_error', message } }))

type Ending = 'end' | 'cut' | 'hang'

/** Server-sent events, and what comes of the connection behind them. */
export const stream =
  (events: readonly (object | string)[], ending: Ending = 'end'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events)
      response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)
    if (ending === 'end') response.end()
    if (ending === 'cut') setTimeout(() => response.socket?.destroy(), 20)
  }

/** Events, then the same text again and again for as long as somebody listens. */
export const flood =
  (events: readonly object[], text: string, everyMs: number): Answer =>
  (response) => {
    stream(events, 'hang')(response)
    const timer = setInterval(() => {
      if (!response.writableNeedDrain) response.write(text)
    }, everyMs)
    response.on('close', () => clearInterval(timer))
  }

export const silence: Answer = () => {}

export const reset: Answer = (response) => response.socket?.destroy()

export const raw =
  (contentType: string, body: string | Buffer): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': contentType }).end(body)
