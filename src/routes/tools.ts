import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { checkHttpTool } from '../agent/http-tools/check-http-tool.ts'
import type { HttpTool } from '../agent/http-tools/http-tool.ts'
import {
  definitionAnswers,
  putHeaders,
  putResponses,
  readResponses,
  removeHeaders,
  removeResponses,
} from '../http/definition-writes.ts'
import type { Idempotency } from '../http/idempotency.ts'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import {
  readTool,
  ToolBody,
  ToolResource,
  ToolSummary,
  toToolResource,
  toToolSummary,
} from '../http/tool-resource.ts'
import { Strict } from '../schema.ts'
import type { DefinitionStore } from '../store/definitions.ts'

const Params = Type.Object({ name: Type.String({ description: 'The name of the tool' }) })

const list = {
  operationId: 'listTools',
  summary: 'List the tools of the service, by name',
  tags: ['tools'],
  querystring: Strict(pageQuery),
  response: { 200: Page(ToolSummary), ...problemResponses },
}
const get = {
  operationId: 'getTool',
  summary: 'Read a tool',
  tags: ['tools'],
  params: Params,
  response: readResponses(Type.Union([ToolResource, ToolSummary])),
}
const put = {
  operationId: 'putTool',
  summary: 'Set up a tool that is an HTTP request',
  tags: ['tools'],
  params: Params,
  headers: putHeaders,
  body: ToolBody,
  response: putResponses(ToolResource),
}
const remove = {
  operationId: 'deleteTool',
  summary: 'Delete a tool that is an HTTP request',
  tags: ['tools'],
  params: Params,
  headers: removeHeaders,
  response: removeResponses,
}

interface Options {
  definitions: DefinitionStore<HttpTool>
  idempotency: Idempotency
  /** What forbids requests to a URL, in a sentence. */
  checkUrl(url: string): string | undefined
  /** The tools that are not set up here; their names are not those of HTTP tools. */
  others?: () => Promise<ToolSummary[]>
}

export const toolRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { definitions, idempotency, checkUrl, others = async () => [] } = options
  const answers = definitionAnswers<HttpTool>({
    noun: 'tool',
    code: 'tool_not_found',
    definitions,
    idempotency,
    toResource: toToolResource,
  })
  const reads = { scope: 'chat' } as const
  const writes = { scope: 'admin' } as const

  app.get('/tools', { schema: list, config: reads }, async ({ query }) => {
    const { limit = DEFAULT_LIMIT, cursor } = query
    const after = readCursor('tools', cursor)
    const stored = await definitions.list({
      limit: limit + 1,
      ...(after !== undefined && { after }),
    })
    const found = stored.map(({ name, definition }) =>
      toToolSummary({ ...definition, name }, 'http'),
    )
    for (const tool of await others())
      if (after === undefined || tool.name > after) found.push(tool)
    const byName = found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return toPage('tools', byName, limit, ({ name }) => name)
  })

  app.get('/tools/:name', { schema: get, config: reads }, async (request, reply) => {
    const other = (await others()).find(({ name }) => name === request.params.name)
    return other ?? answers.read(request, reply)
  })

  app.put('/tools/:name', { schema: put, config: writes }, async (request, reply) =>
    answers.put(request, reply, () => {
      const tool = readTool(request.body)
      checkHttpTool(request.params.name, tool, checkUrl)
      return tool
    }),
  )

  app.delete('/tools/:name', { schema: remove, config: writes }, async (request, reply) =>
    answers.remove(request, reply),
  )
}
