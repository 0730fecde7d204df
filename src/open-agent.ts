import { dirname, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Agent } from './agent/agent.ts'
import { createAgents } from './agent/agents.ts'
import { openHooks } from './agent/hooks/open-hooks.ts'
import { readHookPaths, readHookUrls } from './agent/hooks/settings.ts'
import type { HttpTool } from './agent/http-tools/http-tool.ts'
import { httpTools } from './agent/http-tools/http-tools.ts'
import type { McpServer } from './agent/mcp/mcp-server.ts'
import { openMcpTools } from './agent/mcp/open-mcp-tools.ts'
import { openGuardedFetch } from './agent/net/guarded-fetch.ts'
import { NO_STEP, type ToolSource } from './agent/tool.ts'
import { joinSources } from './agent/tool-sources.ts'
import { openWorkspace } from './agent/workspace/open-workspace.ts'
import type { Config } from './config.ts'
import { createDefinitionStore } from './store/definition-store.ts'
import type { openDatabase } from './store/open.ts'
import type { SkillStore } from './store/skills.ts'

interface Parts {
  db: Awaited<ReturnType<typeof openDatabase>>
  skills: SkillStore
  log: Logger
}

/** Opens what agents work with besides skills and models: their set-ups, tools and hooks. */
export async function openAgent(config: Config, { db, skills, log }: Parts) {
  const allowHosts = config.TOOLS_ALLOW_HOSTS
  const guarded = openGuardedFetch(allowHosts === undefined ? {} : { allowHosts })
  const httpDefinitions = createDefinitionStore<HttpTool>(db, 'tools')
  const servers = createDefinitionStore<McpServer>(db, 'mcp_servers')
  const hooks = await openHooks({
    modules: readHookPaths(config.HOOKS),
    urls: readHookUrls(config.HOOK_URLS),
    secret: config.HOOK_SECRET,
    fetch,
    log,
  })
  const workspace =
    config.WORKSPACE_DIR === undefined
      ? undefined
      : await openWorkspaceIn(resolve(config.WORKSPACE_DIR), config, { skills, log })
  const commands = config.MCP_COMMANDS
  const { env } = process
  const mcp = openMcpTools({ servers, fetch: guarded.fetch, commands, env, log })
  const http = httpTools({ definitions: httpDefinitions, fetch: guarded.fetch, env })

  return {
    agents: createAgents(createDefinitionStore<Agent>(db, 'agents')),
    hooks,
    workspace,
    mcp,
    servers,
    commands,
    httpDefinitions,
    checkUrl: guarded.checkUrl,
    /** The tools that are not HTTP tools, as they are listed. */
    async otherTools() {
      const listed = async (source: ToolSource, from: 'workspace' | 'mcp') =>
        (await source.tools(NO_STEP)).map(({ name, description, inputSchema }) => ({
          name,
          description,
          input_schema: inputSchema,
          source: from,
        }))
      const own = workspace ? await listed(workspace.tools, 'workspace') : []
      return [...own, ...(await listed(mcp.source, 'mcp'))]
    },
    tools: joinSources(...(workspace ? [workspace.tools] : []), http, mcp.source),

    async close(): Promise<void> {
      await mcp.close()
      await workspace?.close()
      await guarded.close()
    },
  }
}

async function openWorkspaceIn(directory: string, config: Config, parts: Omit<Parts, 'db'>) {
  const database = /^sqlite:(?!:memory:)(.+)$/.exec(config.DATABASE_URL)?.[1]
  const folders = [config.SKILLS_DIR, ...(database === undefined ? [] : [dirname(database)])]
  const hidden = folders.filter((folder) => folder !== '').map((folder) => resolve(folder))
  try {
    return await openWorkspace({
      ...parts,
      directory,
      bashTimeoutMs: config.BASH_TIMEOUT_MS,
      hidden,
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : error
    throw new Error(`WORKSPACE_DIR cannot be used: ${why}`, { cause: error })
  }
}

export type AgentWorld = Awaited<ReturnType<typeof openAgent>>
