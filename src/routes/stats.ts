import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { problemResponses } from '../http/problem.ts'
import { SkillParam } from '../http/skill-params.ts'
import { SkillStatsResource, StatsResource, toSkillStats, toStats } from '../http/stats-resource.ts'
import type { Registry } from '../registry/registry.ts'
import type { SkillStore } from '../store/skills.ts'
import type { UsageStore } from '../store/usage.ts'

const ofSkill = {
  operationId: 'getSkillStats',
  summary: 'How a skill is used, by version',
  tags: ['skills'],
  params: Type.Object({ name: SkillParam }),
  response: { 200: SkillStatsResource, ...problemResponses },
}
const total = {
  operationId: 'getStats',
  summary: 'How skills are used, and what that saves',
  tags: ['operations'],
  response: { 200: StatsResource, ...problemResponses },
}

interface Options {
  skills: Pick<SkillStore, 'find'>
  registry: Pick<Registry, 'notFound'>
  usage: UsageStore
}

export const statsRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, registry, usage } = options
  const config = { scope: 'skills:read' } as const

  app.get('/skills/:name/stats', { schema: ofSkill, config }, async ({ params: { name } }) => {
    if (!(await skills.find(name))) throw await registry.notFound(name)
    return toSkillStats(name, await usage.ofSkill(name))
  })

  app.get('/stats', { schema: total, config }, async () => toStats(await usage.total()))
}
