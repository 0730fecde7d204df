import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { goneSignal } from './gone.ts'
import { toProblem } from './problem.ts'

export const PING_MS = 15_000
export const STALL_MS = 30_000

const open = new WeakMap<Server, number>()

/** How many answers of the server are streamed now. */
export const openStreams = (server: Server): number => open.get(server) ?? 0

/**
 * Sends events no faster than the client reads them. A client that stops reading for `stallMs` is
 * cut, which `goneSignal(reply)` then tells the work behind `events`. A failure is a last event
 * `error`, with the problem.
 */
export async function sendEvents(
  reply: FastifyReply,
  events: AsyncIterable<{ type: string }>,
  stallMs = STALL_MS,
): Promise<void> {
  const gone = goneSignal(reply)
  const { raw, request } = beginStream(reply, 'text/event-stream')

  let id = 0
  async function send(event: string, data: object): Promise<void> {
    if (raw.destroyed) return
    const flushed = raw.write(`id: ${++id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    if (!flushed) await drained(raw, gone, stallMs)
  }

  const ping = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': ping\n\n')
  }, PING_MS)
  try {
    for await (const { type, ...data } of events) await send(type, data)
  } catch (error) {
    if (raw.destroyed) return
    const problem = toProblem(error, request)
    if (problem.status >= 500) request.log.error({ err: error }, 'stream failed')
    await send('error', problem)
  } finally {
    clearInterval(ping)
    raw.end()
  }
}

/** Sends the headers, and takes the connection out of Fastify's hands. */
export function beginStream(reply: FastifyReply, contentType: string): FastifyReply {
  reply.headers({
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  reply.hijack()
  const { server } = reply.server
  open.set(server, openStreams(server) + 1)
  reply.raw.once('close', () => open.set(server, openStreams(server) - 1))
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.raw.flushHeaders()
  return reply
}

/** Resolves when more may be written. A client that reads nothing for `stallMs` is cut. */
export async function drained(
  raw: ServerResponse,
  gone: AbortSignal,
  stallMs: number,
): Promise<void> {
  const stalled = AbortSignal.timeout(stallMs)
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([gone, stalled]) })
  } catch (error) {
    raw.destroy()
    throw error
  }
}
