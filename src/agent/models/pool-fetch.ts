import { Pool } from 'undici'
import { tooLarge } from './failure.ts'

type Fetch = typeof globalThis.fetch

interface PoolFetch {
  fetch: Fetch
  /** Ends every connection, whatever is still under way on it. */
  close(): Promise<void>
}

/** What frames a token on the wire may outweigh it by. */
const FRAMING = 32

/** A `fetch` for JSON posts over kept connections. It measures bytes and leaves time to its caller. */
export function openFetch(connectTimeoutMs: number, maxBytes: number): PoolFetch {
  const pools = new Map<string, Pool>()

  function poolOf(origin: string): Pool {
    const known = pools.get(origin)
    if (known) return known
    const pool = new Pool(origin, {
      connectTimeout: connectTimeoutMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    pools.set(origin, pool)
    return pool
  }

  return {
    async fetch(input, init = {}) {
      const url = new URL(input instanceof Request ? input.url : input)
      const { statusCode, headers, body } = await poolOf(url.origin).request({
        method: 'POST',
        path: url.pathname + url.search,
        headers: new Headers(init.headers),
        body: typeof init.body === 'string' ? init.body : null,
        signal: init.signal,
      })
      const pairs = Object.entries(headers).map(
        ([name, value]) => [name, String(value)] as [string, string],
      )
      return new Response(ReadableStream.from(within(body, maxBytes)), {
        status: statusCode,
        headers: pairs,
      })
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

/** Bounds one event, which the parser holds until it is whole, and the stream as such. */
async function* within(body: AsyncIterable<Buffer>, maxBytes: number) {
  let total = 0
  let unfinished = 0
  for await (const chunk of body) {
    const end = Math.max(chunk.lastIndexOf('\n\n'), chunk.lastIndexOf('\r\n\r\n'))
    total += chunk.length
    unfinished = end < 0 ? unfinished + chunk.length : chunk.length - end
    if (unfinished > maxBytes || total > maxBytes * FRAMING) throw tooLarge(maxBytes)
    yield chunk
  }
}
