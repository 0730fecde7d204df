import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { FastifyBaseLogger } from 'fastify'
import type { SkillStore } from '../../store/skills.ts'
import type { UsageStore } from '../../store/usage.ts'
import { type Caller, callerOf } from './caller.ts'
import { useCounter } from './count-use.ts'
import { telling } from './failure.ts'
import { createInstructions, type InstructionParts } from './instructions.ts'
import { getPrompt, listPrompts, type PromptParts } from './prompts.ts'
import { createSkillEntries } from './skill-entries.ts'
import { skillSource } from './skill-source.ts'
import { callTool, listTools, type ToolParts } from './tools.ts'

export type McpParts = Omit<ToolParts & PromptParts & InstructionParts, 'countUse' | 'skills'> & {
  skills: Pick<SkillStore, 'find' | 'findVersion' | 'readFile' | 'rank' | 'list' | 'catalog'>
  usage: Pick<UsageStore, 'record'>
}

/** Answers messages of all revisions of the protocol, each request with a server of its own. */
export function openMcpHandler(options: McpParts, log: FastifyBaseLogger) {
  const parts = { ...options, countUse: useCounter(options.usage, log) }
  const { skills } = parts
  const instructions = createInstructions(parts)
  const extension = new SkillsExtension({
    source: tellingSource(
      skillSource({ skills, entries: createSkillEntries({ skills, log }) }),
      log,
    ),
    cacheHint: { ttlMs: 0, cacheScope: 'private' },
    onWarning: (warning) => log.warn(warning, 'skill not served by the extension'),
  })

  async function serve(caller: Caller): Promise<McpServer> {
    const mcp = new McpServer(
      { name: 'loadskill', version: '1' },
      { instructions: await instructions() },
    )
    const { server } = mcp
    // Without a session nobody is told of changes.
    const listChanged = false
    server.registerCapabilities({
      tools: { listChanged },
      prompts: { listChanged },
      resources: { listChanged },
    })
    server.setRequestHandler('tools/list', () =>
      telling(log, async () => ({ tools: await listTools(parts, caller) })),
    )
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      telling(log, () => callTool(parts, caller, params, mcpReq.signal)),
    )
    server.setRequestHandler('prompts/list', ({ params }) =>
      telling(log, () => listPrompts(parts, params?.cursor)),
    )
    server.setRequestHandler('prompts/get', ({ params }) =>
      telling(log, () => getPrompt(parts, caller, params.name, params.arguments)),
    )
    extension.attach(mcp)
    return mcp
  }

  return createMcpHandler(({ authInfo }) => telling(log, () => serve(callerOf(authInfo))), {
    onerror: (error) => log.debug({ err: error }, 'message refused'),
  })
}

type Source = ReturnType<typeof skillSource>

const tellingSource = (source: Source, log: FastifyBaseLogger): Source => ({
  list: (page) => telling(log, () => source.list(page)),
  get: (uri) => telling(log, () => source.get(uri)),
  read: (uri) => telling(log, () => source.read(uri)),
  readDirectory: (uri, page) => telling(log, () => source.readDirectory(uri, page)),
  listResources: () => telling(log, () => source.listResources()),
})
