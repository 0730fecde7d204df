import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Published } from '../../store/skills.ts'
import { sendContent } from '../send-content.ts'
import { readSkillForm } from '../skill-form.ts'
import { openSkillRoutes, type SkillRouteParts } from '../skill-routes.ts'
import { pageQuery, readPage } from './page.ts'
import { shapeOf } from './shape.ts'

const ofSkill = Type.Object({ id: Type.String() })
const create = { hide: true, params: ofSkill }
const list = { hide: true, params: ofSkill, querystring: Type.Object(pageQuery) }
const one = { hide: true, params: Type.Object({ id: Type.String(), version: Type.String() }) }

/** The versions of Anthropic's Skills API; a new one is current at once (contracts.md 4). */
export const anthropicVersionRoutes: FastifyPluginAsyncTypebox<SkillRouteParts> = async (
  app,
  options,
) => {
  const { skills, byId } = options
  const { reading, writing, answer } = openSkillRoutes(app, 'anthropic', options.idempotency)

  app.post('/skills/:id/versions', { schema: create, ...writing }, async (request, reply) => {
    const { shells, toVersion } = shapeOf(request)
    const manner = { by: request.key?.id ?? null, activate: true, shells }
    return answer<Published>(
      request,
      reply,
      async (recording) => {
        const { files } = readSkillForm(request.body)
        return byId.addVersion(request.params.id, files, manner, recording)
      },
      ({ newest }) => toVersion(newest),
    )
  })

  app.get('/skills/:id/versions', { schema: list, ...reading }, async (request) => {
    const { id } = request.params
    const { shells, toVersion } = shapeOf(request)
    await byId.find(id, { shells })
    return readPage(
      `anthropic:versions:${id}`,
      request.query,
      (page) => skills.versionRecords(id, page),
      toVersion,
    )
  })

  app.get('/skills/:id/versions/:version', { schema: one, ...reading }, async (request) => {
    const { id, version } = request.params
    return shapeOf(request).toVersion(await byId.findVersion(id, version))
  })

  app.get(
    '/skills/:id/versions/:version/content',
    { schema: one, ...reading },
    async ({ params }, reply) =>
      sendContent(skills, reply, await byId.findVersion(params.id, params.version)),
  )

  app.delete('/skills/:id/versions/:version', { schema: one, ...writing }, async (request) => {
    const { id, version } = request.params
    const { loss, deletedVersion } = shapeOf(request)
    const removed = await byId.removeVersion(id, version, loss)
    return { id: deletedVersion(removed), type: 'skill_version_deleted' }
  })
}
