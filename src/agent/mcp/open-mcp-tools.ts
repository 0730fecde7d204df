import { definitionTag } from '../../domain/precondition.ts'
import type { Defined, DefinitionStore } from '../../store/definitions.ts'
import { type Tool, ToolError, type ToolSource } from '../tool.ts'
import { type LiveServer, type Log, openLiveServer } from './live-server.ts'
import type { Endpoint, McpServer } from './mcp-server.ts'
import type { ListedTool, ToolList } from './tool-list.ts'

/** How often the definitions are looked at while nobody asks: another instance may change them. */
const LOOK_MS = 30_000
const MAX_LOGGED = 10

export interface McpServerStatus {
  status: 'connected' | 'connecting' | 'failed' | 'changed'
  /** Of the tool list that the server shows now. */
  toolsHash: string | null
  error: string | null
  /** As the model calls them. */
  tools: string[]
  leftOut: { name: string; reason: string }[]
}

export interface McpTools {
  source: ToolSource
  /** How it stands with a server, as far as this process has come with it. */
  status(defined: Defined<McpServer>): McpServerStatus
  /** Brings the connections in line with what is set up, in the background. */
  look(): void
  /** Every connection and every process is gone when it resolves. */
  close(): Promise<void>
}

interface Options {
  servers: DefinitionStore<McpServer>
  /** Reaches only what the service may reach. */
  fetch: typeof globalThis.fetch
  /** Whether commands may be run. */
  commands: boolean
  env: NodeJS.ProcessEnv
  log: Log
}

interface Entry {
  defined: Defined<McpServer>
  live: LiveServer
  /** The list of which it was logged that it is not the accepted one. */
  refused?: string
}

const COMMANDS_OFF = 'commands are not run: set MCP_COMMANDS=true'

/** The tools of all MCP servers that are set up, kept connected in the background. */
export function openMcpTools({ servers, fetch, commands, env, log }: Options): McpTools {
  const entries = new Map<string, Entry>()
  const leaving = new Set<Promise<void>>()
  let looking: Promise<void> = Promise.resolve()
  let closed = false
  const timer = setInterval(lookInBackground, LOOK_MS).unref()
  lookInBackground()

  return {
    source: {
      async tools() {
        await look()
        await Promise.all([...entries.values()].map(({ live }) => live.settled))
        // By name, so that what a model is shown begins alike from step to step.
        const byName = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
        const offered = await Promise.all(byName.map(([, entry]) => toolsOf(entry)))
        return offered.flat()
      },
    },
    status,
    look: lookInBackground,

    async close() {
      closed = true
      clearInterval(timer)
      await looking.catch(() => undefined)
      for (const name of [...entries.keys()]) drop(name)
      await Promise.all(leaving)
    },
  }

  function lookInBackground() {
    look().catch((error: unknown) => {
      log.warn({ err: error }, 'MCP servers not read')
    })
  }

  /** One after the other, so that an older reading never undoes a newer one. */
  function look(): Promise<void> {
    looking = looking.catch(() => undefined).then(readDefinitions)
    return looking
  }

  async function readDefinitions(): Promise<void> {
    if (closed) return
    const all = (await servers.all()).filter(({ definition }) => mayRun(definition.endpoint))
    const names = new Set(all.map(({ name }) => name))
    for (const name of [...entries.keys()]) if (!names.has(name)) drop(name)
    for (const defined of all) {
      const before = entries.get(defined.name)
      if (before && isEqual(before.defined.definition.endpoint, defined.definition.endpoint)) {
        if (defined.revision > before.defined.revision) before.defined = defined
      } else {
        if (before) drop(defined.name)
        start(defined)
      }
    }
  }

  function mayRun(endpoint: Endpoint): boolean {
    return commands || 'url' in endpoint
  }

  function start(defined: Defined<McpServer>): void {
    const { name, definition } = defined
    const live = openLiveServer({
      name,
      endpoint: definition.endpoint,
      fetch,
      env,
      log,
      onList: (list) => void welcome(name, list),
    })
    entries.set(name, { defined, live })
  }

  function drop(name: string): void {
    const entry = entries.get(name)
    if (!entry) return
    entries.delete(name)
    const left = entry.live.close().finally(() => leaving.delete(left))
    leaving.add(left)
  }

  /** The first list that a server shows is taken for what whoever set it up has seen. */
  async function welcome(name: string, list: ToolList): Promise<void> {
    const renamed = list.tools.filter((tool) => tool.name !== `mcp__${name}__${tool.tool}`).length
    log.info({ server: name, tools: list.tools.length, renamed }, 'MCP tools listed')
    if (list.leftOut.length > 0) {
      const shown = list.leftOut.slice(0, MAX_LOGGED)
      log.warn({ server: name, count: list.leftOut.length, tools: shown }, 'MCP tools left out')
    }
    try {
      const entry = entries.get(name)
      if (entry) await isAccepted(entry, list)
    } catch (error) {
      log.warn({ server: name, err: error }, 'hash of the MCP tools not stored')
    }
  }

  async function isAccepted(entry: Entry, { hash }: ToolList): Promise<boolean> {
    if (entry.defined.definition.accepted === null) await pin(entry, hash)
    const accepted = entry.defined.definition.accepted === hash
    if (!accepted && entry.refused !== hash) {
      entry.refused = hash
      const { name } = entry.defined
      log.warn({ server: name, tools_hash: hash }, 'MCP tools changed: refused until accepted')
    }
    return accepted
  }

  /** Of instances that do so at once one is first, and its hash counts. */
  async function pin(entry: Entry, hash: string): Promise<void> {
    const { name } = entry.defined
    const current = await servers.find(name)
    if (!current || !isEqual(current.definition.endpoint, entry.defined.definition.endpoint)) return
    if (current.definition.accepted !== null) {
      entry.defined = current
      return
    }
    const precondition = { tags: [definitionTag(current)] }
    const accepted = { ...current.definition, accepted: hash }
    const { outcome, defined } = await servers.put(name, accepted, { precondition })
    if (outcome !== 'conflict') entry.defined = defined
    else if (defined) await pin(entry, hash)
  }

  async function toolsOf(entry: Entry): Promise<Tool[]> {
    const { live, defined } = entry
    live.refresh()
    const { list } = live
    if (!list || !(await isAccepted(entry, list))) return []
    return list.tools.map((tool) => toTool(live, tool, defined.definition.approval))
  }

  function status({ name, definition }: Defined<McpServer>): McpServerStatus {
    const entry = entries.get(name)
    const off = !mayRun(definition.endpoint)
    const current = entry && isEqual(entry.defined.definition.endpoint, definition.endpoint)
    const live = current ? entry.live : undefined
    const list = live?.list
    const changed = list && definition.accepted !== null && definition.accepted !== list.hash
    return {
      status: off ? 'failed' : changed ? 'changed' : (live?.status ?? 'connecting'),
      toolsHash: list?.hash ?? null,
      error: off ? COMMANDS_OFF : (live?.error ?? null),
      tools: list?.tools.map((tool) => tool.name) ?? [],
      leftOut: list?.leftOut ?? [],
    }
  }
}

function toTool(live: LiveServer, listed: ListedTool, approval: boolean): Tool {
  const { tool, name, description, inputSchema } = listed
  return {
    name,
    description,
    inputSchema,
    needsApproval: () => approval,
    async run(input, { signal }) {
      const { text, isError } = await live.call(tool, input, signal)
      if (isError) throw new ToolError(text || 'The tool failed and did not say why.')
      return { text }
    },
  }
}

const isEqual = (one: Endpoint, other: Endpoint): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
