import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { goneSignal } from './gone.ts'
import { toProblem } from './problem.ts'

const PING_MS = 15_000
const STALL_MS = 30_000

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
  reply.headers({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const { raw, request } = reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  raw.flushHeaders()

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

async function drained(raw: ServerResponse, gone: AbortSignal, stallMs: number): Promise<void> {
  const stalled = AbortSignal.timeout(stallMs)
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([gone, stalled]) })
  } catch (error) {
    raw.destroy()
    throw error
  }
}
