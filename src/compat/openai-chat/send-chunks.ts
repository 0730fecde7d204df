import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { goneSignal } from '../../http/gone.ts'
import { beginStream, drained, PING_MS, STALL_MS } from '../../http/sse.ts'

/**
 * Sends chunks as `data:` lines, and `[DONE]` behind the last. A failure before the first of them
 * is thrown, to be answered as an error; one behind it is the last line, as `toFailure` puts it.
 */
export async function sendChunks(
  reply: FastifyReply,
  chunks: AsyncGenerator<object, void, void>,
  toFailure: (error: unknown) => object,
  stallMs = STALL_MS,
): Promise<void> {
  const gone = goneSignal(reply)
  const { raw } = reply
  let next = chunks.next()
  // Nothing may be said for long: then the comments begin, and a failure comes as a line.
  await within(PING_MS, next)
  beginStream(reply, 'text/event-stream')

  async function send(data: string): Promise<void> {
    if (raw.destroyed) return
    if (!raw.write(`data: ${data}\n\n`)) await drained(raw, gone, stallMs)
  }

  const ping = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': ping\n\n')
  }, PING_MS)
  try {
    for (let one = await next; !one.done; one = await next) {
      await send(JSON.stringify(one.value))
      next = chunks.next()
    }
    await send('[DONE]')
  } catch (error) {
    if (raw.destroyed) return
    await send(JSON.stringify(toFailure(error)))
  } finally {
    clearInterval(ping)
    await chunks.return()
    raw.end()
  }
}

/** Waits for it, but no longer than that. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const timer = sleep(milliseconds, undefined, { signal }).catch(() => undefined)
  try {
    await Promise.race([promise, timer])
  } finally {
    over.abort()
  }
}
