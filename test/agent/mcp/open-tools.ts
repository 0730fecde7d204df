import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { McpServer } from '../../../src/agent/mcp/mcp-server.ts'
import { openMcpTools } from '../../../src/agent/mcp/open-mcp-tools.ts'
import { openGuardedFetch } from '../../../src/agent/net/guarded-fetch.ts'
import { createDefinitionStore } from '../../../src/store/definition-store.ts'
import { openDatabase } from '../../../src/store/open.ts'
import type { Tables } from '../../../src/store/tables.ts'

const PATIENCE_MS = 20_000

interface Options {
  db?: Kysely<Tables>
  allowHosts?: string
  commands?: boolean
  env?: NodeJS.ProcessEnv
}

export async function database(t: TestContext): Promise<Kysely<Tables>> {
  const db = await openDatabase('sqlite::memory:')
  t.after(() => db.destroy())
  return db
}

/** The tools of MCP servers over a database of their own, closed when the test ends. */
export async function openTools(t: TestContext, options: Options = {}) {
  const { commands = true, env = process.env, allowHosts = '127.0.0.1' } = options
  const db = options.db ?? (await database(t))
  const servers = createDefinitionStore<McpServer>(db, 'mcp_servers')
  const guarded = openGuardedFetch({ allowHosts })
  const logged: { message: string; reason?: unknown }[] = []
  const write = (fields: object, message: string) => void logged.push({ ...fields, message })
  const log = { info: write, warn: write }
  const mcp = openMcpTools({ servers, fetch: guarded.fetch, commands, env, log })
  t.after(async () => {
    await mcp.close()
    await guarded.close()
  })

  const tools = () => mcp.source.tools({ conversationId: 'conv_1', loads: new Map() })
  const status = async (name: string) => {
    const defined = await servers.find(name)
    assert.ok(defined)
    return { ...mcp.status(defined), accepted: defined.definition.accepted }
  }
  return {
    mcp,
    servers,
    logged,
    tools,
    status,
    names: async () => (await tools()).map(({ name }) => name),
    async put(name: string, endpoint: McpServer['endpoint'], more: Partial<McpServer> = {}) {
      await servers.put(name, { endpoint, approval: false, accepted: null, ...more })
      mcp.look()
    },
    async call(name: string, input: Record<string, unknown> = {}, signal = never()) {
      const tool = (await tools()).find((candidate) => candidate.name === name)
      assert.ok(tool, `${name} is on offer`)
      return tool.run(input, { signal, conversationId: 'conv_1', callId: 'call_1' })
    },
    /** Waits until the status is that, and says the rest of it. */
    until: (name: string, wanted: string) =>
      eventually(async () => {
        const now = await status(name)
        assert.equal(now.status, wanted, JSON.stringify(now))
        return now
      }),
  }
}

const never = () => new AbortController().signal

/** What the check gives as soon as it holds; how it failed when it never does. */
export async function eventually<Result>(check: () => Promise<Result> | Result): Promise<Result> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await delay(50)
  }
}
