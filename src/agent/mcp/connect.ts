import type {
  CallToolResult,
  Client,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client'
import { boundedFetch } from './bounded-fetch.ts'
import { commandTransport } from './command-transport.ts'
import type { Endpoint } from './mcp-server.ts'

const CONNECT_MS = 30_000
const CALL_MS = 60_000
const GOODBYE_MS = 1000
const MAX_PAGES = 32
const MAX_LISTED = 2000

export interface ConnectOptions {
  /** With the values of all references in it. */
  endpoint: Endpoint
  fetch: typeof globalThis.fetch
  env: NodeJS.ProcessEnv
  /** Ends the attempt; a connection that is there is ended by `close`. */
  signal: AbortSignal
  /** The server says that it has other tools now. */
  onChanged(): void
  /** Something went wrong that no request is told of: it may have been the last word. */
  onTrouble(error: Error): void
  /** It is over, for whatever reason. */
  onClosed(): void
}

export interface Connection {
  /** What the server lists, of whatever shape. */
  list(): Promise<unknown[]>
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>
  close(): Promise<void>
}

/** Opens a connection to an MCP server and has it introduce itself. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { endpoint, signal, onChanged, onTrouble, onClosed } = options
  // It takes long to load, and most services have no MCP server.
  const sdk = await import('@modelcontextprotocol/client')
  const client = new sdk.Client(
    { name: 'loadskill', version: '1' },
    {
      // Some servers that are run as a command end at a question of the newer protocol.
      versionNegotiation: { mode: 'url' in endpoint ? 'auto' : 'legacy' },
      listChanged: { tools: { autoRefresh: false, onChanged } },
    },
  )
  client.onerror = onTrouble
  client.onclose = onClosed
  signal.throwIfAborted()
  const { transport, goodbye } = openTransport(sdk, options)
  const abandon = () => void transport.close()
  signal.addEventListener('abort', abandon, { once: true })
  try {
    await client.connect(transport, { timeout: CONNECT_MS, signal })
    signal.throwIfAborted()
  } catch (error) {
    await transport.close()
    throw error
  } finally {
    signal.removeEventListener('abort', abandon)
  }
  return {
    list: () => listTools(client),
    call: (name, input, callSignal) =>
      client.callTool({ name, arguments: input }, { signal: callSignal, timeout: CALL_MS }),
    async close() {
      await goodbye()
      await transport.close()
    },
  }
}

interface Opened {
  transport: Transport
  /** Tells the server that it may forget the session. */
  goodbye(): Promise<void>
}

function openTransport(
  sdk: typeof import('@modelcontextprotocol/client'),
  { endpoint, fetch, env }: ConnectOptions,
): Opened {
  if ('command' in endpoint) {
    const transport = commandTransport(endpoint, { env, buffer: new sdk.ReadBuffer() })
    return { transport, goodbye: async () => undefined }
  }
  const transport = new sdk.StreamableHTTPClientTransport(new URL(endpoint.url), {
    fetch: boundedFetch(fetch),
    requestInit: { headers: endpoint.headers },
  })
  const goodbye = async () => {
    const late = new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())
    await Promise.race([transport.terminateSession().catch(() => undefined), late])
  }
  return { transport, goodbye }
}

/** Takes what comes: one tool of an odd shape must not hide the others. */
const anything: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'loadskill',
    validate: (value) => ({ value: Object(value) }),
  },
}

async function listTools(client: Client): Promise<unknown[]> {
  const listed: unknown[] = []
  if (!client.getServerCapabilities()?.tools) return listed
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES && listed.length < MAX_LISTED; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {}
    const request = { method: 'tools/list', params }
    const { tools, nextCursor } = await client.request(request, anything, { timeout: CONNECT_MS })
    if (!Array.isArray(tools)) throw new Error('the server answered tools/list without a list')
    listed.push(...tools)
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return listed.slice(0, MAX_LISTED)
}
