import type { FastifyReply } from 'fastify'
import { goneSignal } from './gone.ts'
import { toProblem } from './problem.ts'
import { beginStream, drained, STALL_MS } from './sse.ts'

/**
 * Sends a line of JSON for each value, no faster than the client reads them. A failure is a last
 * line with the problem.
 */
export async function sendLines(
  reply: FastifyReply,
  lines: AsyncIterable<object>,
  stallMs = STALL_MS,
): Promise<void> {
  const gone = goneSignal(reply)
  const { raw, request } = beginStream(reply, 'application/x-ndjson')

  async function send(line: object): Promise<void> {
    if (!raw.write(`${JSON.stringify(line)}\n`)) await drained(raw, gone, stallMs)
  }

  try {
    for await (const line of lines) {
      if (raw.destroyed) return
      await send(line)
    }
  } catch (error) {
    if (raw.destroyed) return
    const problem = toProblem(error, request)
    if (problem.status >= 500) request.log.error({ err: error }, 'stream failed')
    await send(problem)
  } finally {
    raw.end()
  }
}
