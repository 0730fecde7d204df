import { EXIT, Failure, usageFailure } from './failure.ts'
import { readRefusal } from './refusal.ts'

const API = '/api/v1'
const PAGE = 100

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/** The service. Every call throws a Failure when it refuses, fails, or is not there. */
export interface Client {
  readonly url: string
  readonly hasKey: boolean
  /** An answer with a good status. Paths are those below /api/v1. */
  call(path: string, sent?: Sent): Promise<Response>
  /** Any answer; the path is a whole one. */
  ask(path: string, sent?: Sent): Promise<Response>
  /** The whole body of such an answer. */
  bytes(path: string, sent?: Sent): Promise<Buffer<ArrayBuffer>>
  read<Body>(path: string): Promise<Body>
  send<Body>(method: string, path: string, body: object): Promise<Body>
  /** Every element of a list, whatever its pages. */
  list<Item>(path: string, query?: Query): Promise<Item[]>
}

type Query = Record<string, string | number | boolean | readonly string[] | undefined>

interface Target {
  url: string
  key: string | undefined
  signal: AbortSignal
}

export function createClient({ url: given, key: givenKey, signal }: Target): Client {
  const url = readUrl(given)
  const key = readKey(givenKey)

  async function ask(path: string, { headers = {}, ...sent }: Sent = {}): Promise<Response> {
    const credentials: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
    try {
      return await fetch(`${url}${path}`, {
        ...sent,
        headers: { accept: 'application/json', ...credentials, ...headers },
        signal,
      })
    } catch (error) {
      throw unreachable(
        error,
        'Nothing answers: is the service running, and is LOADSKILL_URL right?',
      )
    }
  }

  async function call(path: string, sent?: Sent): Promise<Response> {
    const response = await ask(`${API}${path}`, sent)
    if (response.ok) return response
    throw await readRefusal(response, key !== undefined)
  }

  function unreachable(error: unknown, what: string): unknown {
    if (signal.aborted) return signal.reason
    const cause = error instanceof Error ? error.cause : undefined
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    return new Failure(EXIT.unreachable, `${url}${code}: ${what}`, { cause: error })
  }

  async function bytes(path: string, sent?: Sent): Promise<Buffer<ArrayBuffer>> {
    const response = await call(path, sent)
    try {
      return Buffer.from(await response.arrayBuffer())
    } catch (error) {
      throw unreachable(error, 'The connection broke off in the middle of an answer.')
    }
  }

  async function read<Body>(path: string, sent?: Sent): Promise<Body> {
    const text = (await bytes(path, sent)).toString()
    try {
      return JSON.parse(text)
    } catch (error) {
      const what = `What answers at ${url} is not loadskill: ${path} is no JSON.`
      throw new Failure(EXIT.refused, what, { cause: error })
    }
  }

  return {
    url,
    hasKey: key !== undefined,
    ask,
    call,
    bytes,
    read,
    send: (method, path, body) =>
      read(path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async list<Item>(path: string, query: Query = {}) {
      const all: Item[] = []
      let cursor: string | undefined
      do {
        const page = await read<{ data: Item[]; next_cursor: string | null }>(
          withQuery(path, { limit: PAGE, ...query, cursor }),
        )
        all.push(...page.data)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return all
    },
  }
}

/** What is undefined is left out; a list is sent as several. */
export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) search.append(name, String(one))
    }
  }
  return search.size > 0 ? `${path}?${search}` : path
}

export const skillPath = (name: string, version?: number): string =>
  `/skills/${encodeURIComponent(name)}${version === undefined ? '' : `/versions/${version}`}`

function readUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') {
    if (url.username === '' && url.password === '') return url.href.replace(/\/+$/, '')
  }
  throw usageFailure(
    `LOADSKILL_URL is ${JSON.stringify(given)}: write it as http://HOST:PORT, without a password.`,
  )
}

/** A key in a file often ends with a line break. */
function readKey(given: string | undefined): string | undefined {
  const key = given?.trim()
  if (!key) return undefined
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw usageFailure('LOADSKILL_KEY holds blanks or other characters that no key has.')
}
