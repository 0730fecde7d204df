import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Agent } from '../agent/agent.ts'
import type { Models } from '../agent/model.ts'
import { AgentBody, AgentResource, readAgent, toAgentResource } from '../http/agent-resource.ts'
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
import { Strict } from '../schema.ts'
import type { DefinitionStore } from '../store/definitions.ts'

const Params = Type.Object({ name: Type.String({ description: 'The name of the agent' }) })
const tags = ['agents']

const list = {
  operationId: 'listAgents',
  summary: 'List agents, by name',
  tags,
  querystring: Strict(pageQuery),
  response: { 200: Page(AgentResource), ...problemResponses },
}
const get = {
  operationId: 'getAgent',
  summary: 'Read an agent',
  tags,
  params: Params,
  response: readResponses(AgentResource),
}
const put = {
  operationId: 'putAgent',
  summary: 'Set up an agent, whole: what is left out takes its default',
  description: 'Null leaves it to the settings of the service.',
  tags,
  params: Params,
  headers: putHeaders,
  body: AgentBody,
  response: putResponses(AgentResource),
}
const remove = {
  operationId: 'deleteAgent',
  summary: 'Delete an agent; `default` becomes the built-in one again',
  tags,
  params: Params,
  headers: removeHeaders,
  response: removeResponses,
}

interface Options {
  /** With the default, which always exists. */
  agents: DefinitionStore<Agent>
  models: Pick<Models, 'open'>
  idempotency: Idempotency
}

export const agentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { agents, models, idempotency } = options
  const reads = { scope: 'chat' } as const
  const writes = { scope: 'admin' } as const
  const answers = definitionAnswers<Agent>({
    noun: 'agent',
    code: 'agent_not_found',
    definitions: agents,
    idempotency,
    toResource: toAgentResource,
  })

  app.get('/agents', { schema: list, config: reads }, async ({ query }) => {
    const { limit = DEFAULT_LIMIT, cursor } = query
    const after = readCursor('agents', cursor)
    const found = await agents.list({ limit: limit + 1, ...(after !== undefined && { after }) })
    const page = toPage('agents', found, limit, ({ name }) => name)
    return { ...page, data: page.data.map(toAgentResource) }
  })

  app.get('/agents/:name', { schema: get, config: reads }, (request, reply) =>
    answers.read(request, reply),
  )

  app.put('/agents/:name', { schema: put, config: writes }, (request, reply) =>
    answers.put(request, reply, () => {
      const agent = readAgent(request.params.name, request.body)
      models.open(agent.model)
      return agent
    }),
  )

  app.delete('/agents/:name', { schema: remove, config: writes }, (request, reply) =>
    answers.remove(request, reply),
  )
}
