import { openSecrets } from '../http-tools/secrets.ts'
import { ToolError, type ToolInput } from '../tool.ts'
import { cleanLine } from './clean-text.ts'
import { type Connection, connect } from './connect.ts'
import type { Endpoint } from './mcp-server.ts'
import { fillReferences } from './references.ts'
import { resultText } from './result-text.ts'
import { openSession, rest, type Session } from './session.ts'
import type { ToolList } from './tool-list.ts'

/** How long a step waits for a server that it has never seen connected. */
const FIRST_WAIT_MS = 2000
const SHORTEST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** A connection that lasted this long was a good one: the pauses begin anew. */
const GOOD_MS = 60_000
const MAX_ERROR = 300

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface Options {
  name: string
  endpoint: Endpoint
  fetch: typeof globalThis.fetch
  env: NodeJS.ProcessEnv
  log: Log
  /** A tool list has been read: the first of a connection, or another one. */
  onList(list: ToolList): void
}

export interface CallAnswer {
  text: string
  isError: boolean
}

/** A server that is kept connected, in the background, until it is closed. */
export interface LiveServer {
  /** Resolves when the first attempt is over, or has taken as long as anybody should wait. */
  readonly settled: Promise<void>
  /** What it offers; undefined while it is not connected. */
  readonly list: ToolList | undefined
  readonly status: 'connecting' | 'connected' | 'failed'
  /** Why it is not connected, in one line without secrets. */
  readonly error: string | undefined
  /** Throws a ToolError for whatever goes wrong but an abort of the signal, whose reason it throws. */
  call(tool: string, input: ToolInput, signal: AbortSignal): Promise<CallAnswer>
  /** Has the list read again where it is old. */
  refresh(): void
  /** The connection, and a process that was started for it, is gone when it resolves. */
  close(): Promise<void>
}

export function openLiveServer(options: Options): LiveServer {
  const { name, endpoint, env, log } = options
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  const patience = setTimeout(() => {
    log.warn({ server: name }, 'MCP server not connected in time: going on without its tools')
    first.resolve()
  }, FIRST_WAIT_MS)
  let status: LiveServer['status'] = 'connecting'
  let error: string | undefined
  let mask = (text: string): string => text
  let session: Session | undefined
  const done = keepConnected()

  return {
    settled: first.promise,
    get list() {
      return session?.list
    },
    get status() {
      return status
    },
    get error() {
      return error
    },

    async call(tool, input, signal) {
      const current = session
      if (!current?.list) {
        throw new ToolError(`The MCP server "${name}" is not connected: try again later.`)
      }
      try {
        const result = await current.connection.call(tool, input, signal)
        const text = mask(resultText(result))
        return { text, isError: result.isError === true }
      } catch (failure) {
        signal.throwIfAborted()
        if (!isAnswer(failure)) current.read()
        throw new ToolError(`The call to the MCP server "${name}" failed: ${tell(failure)}`)
      }
    },

    refresh() {
      session?.refresh()
    },

    async close() {
      closing.abort()
      await done
    },
  }

  async function keepConnected(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures++) {
      const began = performance.now()
      try {
        await stayConnected()
      } catch (failure) {
        const told = tell(failure)
        if (!closing.signal.aborted && (status !== 'failed' || told !== error)) {
          log.warn({ server: name, reason: told }, 'MCP server not connected')
        }
        error = told
      }
      status = 'failed'
      settle()
      if (performance.now() - began > GOOD_MS) failures = 0
      await pause(failures)
    }
  }

  function settle() {
    clearTimeout(patience)
    first.resolve()
  }

  function pause(failures: number): Promise<void> {
    const longest = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(failures, 10))
    const wait = Math.max(SHORTEST_PAUSE_MS, longest * (0.5 + Math.random() / 2))
    return rest(wait, closing.signal)
  }

  /** Connects, and ends with what ended the connection. */
  async function stayConnected(): Promise<never> {
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => undefined)
    const lose = () => lost.reject(closing.signal.reason)
    closing.signal.addEventListener('abort', lose)
    const secrets = openSecrets(env)
    mask = secrets.mask
    let trouble: Error | undefined
    let connection: Connection | undefined
    try {
      connection = await connect({
        ...options,
        endpoint: fill(secrets.read),
        signal: closing.signal,
        onChanged: () => session?.read(),
        onTrouble(cause) {
          trouble = cause
          session?.read()
        },
        onClosed: () => lost.reject(trouble ?? new Error('the server closed the connection')),
      }).catch((failure) => {
        // A process that ended tells more in its last words than the protocol does.
        throw trouble ?? failure
      })
      const opened = openSession({
        name,
        connection,
        signal: closing.signal,
        onLost: lost.reject,
        onRead(list, before) {
          if (session !== opened) return
          status = 'connected'
          error = undefined
          settle()
          if (list.hash !== before?.hash) options.onList(list)
        },
      })
      session = opened
      opened.read()
      return await lost.promise
    } finally {
      closing.signal.removeEventListener('abort', lose)
      session = undefined
      if (status === 'connected') status = 'connecting'
      await connection?.close()
    }
  }

  function fill(read: (name: string) => string): Endpoint {
    return 'url' in endpoint
      ? { ...endpoint, headers: fillReferences(endpoint.headers, read) }
      : { ...endpoint, env: fillReferences(endpoint.env, read) }
  }

  function tell(failure: unknown): string {
    const messages: string[] = []
    for (let next = failure; next instanceof Error && messages.length < 3; next = next.cause) {
      messages.push(next.message)
    }
    return cleanLine(mask(messages.join(': ') || 'it failed'), MAX_ERROR)
  }
}

/** Whether it is the server's own word: anything else may mean that the connection is dead. */
const isAnswer = (failure: unknown): boolean =>
  failure instanceof Error && 'code' in failure && typeof failure.code === 'number'
