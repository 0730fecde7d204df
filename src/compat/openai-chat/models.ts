import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Agent } from '../../agent/agent.ts'
import type { Defined, DefinitionStore } from '../../store/definitions.ts'
import { speakAs } from '../family.ts'
import { modelNotFound } from './refusal.ts'

interface Options {
  agents: Pick<DefinitionStore<Agent>, 'find' | 'all'>
}

/** The agents, as models (contracts.md 6). */
export const modelRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { agents }) => {
  const config = { scope: ['chat', 'skills:read'] as const }
  speakAs(app, 'openai')

  app.get('/models', { schema: { hide: true }, config }, async () => ({
    object: 'list',
    data: (await agents.all()).map(toModel),
  }))

  const params = Type.Object({ name: Type.String() })
  app.get('/models/:name', { schema: { hide: true, params }, config }, async ({ params }) => {
    const found = await agents.find(params.name)
    if (!found) throw modelNotFound(params.name)
    return toModel(found)
  })
}

const toModel = ({ name, createdAt }: Defined<Agent>) => ({
  id: name,
  object: 'model',
  created: Math.floor(Date.parse(createdAt) / 1000),
  owned_by: 'loadskill',
})
