import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { McpServer } from '../agent/mcp/mcp-server.ts'
import type { McpTools } from '../agent/mcp/open-mcp-tools.ts'
import {
  definitionAnswers,
  putHeaders,
  putResponses,
  readResponses,
  removeHeaders,
  removeResponses,
} from '../http/definition-writes.ts'
import type { Idempotency } from '../http/idempotency.ts'
import {
  McpServerBody,
  McpServerResource,
  type McpServerRules,
  readMcpServer,
  toMcpServerResource,
} from '../http/mcp-server-resource.ts'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import { Strict } from '../schema.ts'
import type { Defined, DefinitionStore } from '../store/definitions.ts'

const Params = Type.Object({ name: Type.String({ description: 'The name of the MCP server' }) })
const tags = ['tools']
const examples = [
  { url: 'https://mcp.example.com/mcp', headers: { authorization: 'Bearer {{env.MCP_TOKEN}}' } },
]

const list = {
  operationId: 'listMcpServers',
  summary: 'List the MCP servers',
  tags,
  querystring: Strict(pageQuery),
  response: { 200: Page(McpServerResource), ...problemResponses },
}
const get = {
  operationId: 'getMcpServer',
  summary: 'Read an MCP server, and how it stands with it',
  description: 'The ETag is that of the set-up, for writes; its status may change without it.',
  tags,
  params: Params,
  response: readResponses(McpServerResource),
}
const put = {
  operationId: 'putMcpServer',
  summary: 'Set up an MCP server, or accept the tools it lists now',
  tags,
  params: Params,
  headers: putHeaders,
  body: { ...McpServerBody, examples },
  response: putResponses(McpServerResource),
}
const remove = {
  operationId: 'deleteMcpServer',
  summary: 'Delete an MCP server, and end its process',
  tags,
  params: Params,
  headers: removeHeaders,
  response: removeResponses,
}

interface Options extends McpServerRules {
  servers: DefinitionStore<McpServer>
  tools: Pick<McpTools, 'status' | 'look'>
  idempotency: Idempotency
}

export const mcpServerRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { servers, tools, idempotency } = options
  const reads = { scope: 'chat' } as const
  const writes = { scope: 'admin' } as const
  const toResource = (defined: Defined<McpServer>) =>
    toMcpServerResource(defined, tools.status(defined))
  const answers = definitionAnswers<McpServer>({
    noun: 'MCP server',
    code: 'mcp_server_not_found',
    definitions: servers,
    idempotency,
    toResource,
  })

  app.get('/mcp-servers', { schema: list, config: reads }, async ({ query }) => {
    const { limit = DEFAULT_LIMIT, cursor } = query
    const after = readCursor('mcp-servers', cursor)
    const found = await servers.list({ limit: limit + 1, ...(after !== undefined && { after }) })
    const page = toPage('mcp-servers', found, limit, ({ name }) => name)
    return { ...page, data: page.data.map(toResource) }
  })

  app.get('/mcp-servers/:name', { schema: get, config: reads }, (request, reply) => {
    // A 304 would hide a status that has changed.
    delete request.headers['if-none-match']
    return answers.read(request, reply)
  })

  app.put('/mcp-servers/:name', { schema: put, config: writes }, async (request, reply) => {
    const { name } = request.params
    await answers.put(request, reply, async () => {
      const before = await servers.find(name)
      return readMcpServer(name, request.body, before?.definition, options)
    })
    tools.look()
    return reply
  })

  app.delete('/mcp-servers/:name', { schema: remove, config: writes }, async (request, reply) => {
    await answers.remove(request, reply)
    tools.look()
    return reply
  })
}
