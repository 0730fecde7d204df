const MAX_BYTES = 16 * 1024 * 1024

type Fetch = typeof globalThis.fetch

/**
 * The same fetch, for answers that are held in memory: a body of more than 16 MiB breaks off, and a
 * stream of events with an event of that size.
 */
export const boundedFetch =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!response.body) return response
    const streams = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bounded(streams)), {
      status,
      statusText,
      headers,
    })
  }

function bounded(events: boolean): TransformStream<Uint8Array, Uint8Array> {
  let held = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = events ? lastEnd(chunk) : -1
      held = end < 0 ? held + chunk.length : chunk.length - end
      if (held > MAX_BYTES) controller.error(new Error('the answer is larger than 16 MiB'))
      else controller.enqueue(chunk)
    },
  })
}

/** Where the last event of it ends, at an empty line; -1 when none does. */
function lastEnd(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'))
}
