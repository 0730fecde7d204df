import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import { SkillParam, VersionParam } from '../http/skill-params.ts'
import {
  toVersionResource,
  toVersionSummary,
  VersionResource,
  VersionSummaryResource,
} from '../http/skill-resource.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'
import type { SkillStore } from '../store/skills.ts'

const Params = Type.Object({ name: SkillParam, version: VersionParam })

const list = {
  operationId: 'listVersions',
  summary: 'List the versions of a skill, newest first',
  tags: ['skills'],
  params: Type.Object({ name: SkillParam }),
  querystring: Strict(pageQuery),
  response: { 200: Page(VersionSummaryResource), ...problemResponses },
}
const get = {
  operationId: 'getVersion',
  summary: 'Read a version',
  tags: ['skills'],
  params: Params,
  response: { 200: VersionResource, ...problemResponses },
}
const remove = {
  operationId: 'deleteVersion',
  summary: 'Delete a version that is not the current one',
  tags: ['skills'],
  params: Params,
  response: { 204: Type.Null({ description: 'Deleted' }), ...problemResponses },
}

interface Options {
  registry: Pick<Registry, 'notFound' | 'removeVersion'>
  skills: SkillStore
}

export const versionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, skills } = options
  const config = { scope: 'skills:read' } as const

  app.get('/skills/:name/versions', { schema: list, config }, async ({ params, query }) => {
    const { limit = DEFAULT_LIMIT, cursor } = query
    const before = readCursor('versions', cursor, /^\d{1,10}$/)
    const place = before === undefined ? {} : { before: Number(before) }
    const found = await skills.versions(params.name, { ...place, limit: limit + 1 })
    if (found.length === 0 && !(await skills.find(params.name))) {
      throw await registry.notFound(params.name)
    }
    const page = toPage('versions', found, limit, ({ version }) => `${version}`)
    return { ...page, data: page.data.map(toVersionSummary) }
  })

  app.get('/skills/:name/versions/:version', { schema: get, config }, async ({ params }) => {
    const version = await skills.findVersion(params.name, params.version)
    if (!version) throw await registry.notFound(params.name, params.version)
    return toVersionResource(version)
  })

  app.delete(
    '/skills/:name/versions/:version',
    { schema: remove, config: { scope: 'skills:write' } },
    async ({ params }, reply) => {
      await registry.removeVersion(params.name, params.version)
      return reply.code(204).send(null)
    },
  )
}
