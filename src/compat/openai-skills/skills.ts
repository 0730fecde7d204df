import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { recordOf, type SkillRecord } from '../../store/skill-records.ts'
import type { Published } from '../../store/skills.ts'
import { sendContent } from '../send-content.ts'
import { readSkillForm } from '../skill-form.ts'
import { openSkillRoutes, type SkillRouteParts } from '../skill-routes.ts'
import { pageQuery, readPage, toSkill } from './resources.ts'

const params = Type.Object({ id: Type.String() })
const create = { hide: true }
const list = { hide: true, querystring: pageQuery }
const one = { hide: true, params }
const update = {
  hide: true,
  params,
  body: Type.Object({
    default_version: Type.Union([Type.String(), Type.Integer({ minimum: 1 })]),
  }),
}

/** The skills of OpenAI's Skills API (contracts.md 5). */
export const openaiSkillRoutes: FastifyPluginAsyncTypebox<SkillRouteParts> = async (
  app,
  options,
) => {
  const { skills, byId } = options
  const { reading, writing, answer } = openSkillRoutes(app, 'openai', options.idempotency)

  app.post('/skills', { schema: create, ...writing }, async (request, reply) =>
    answer<Published>(
      request,
      reply,
      async (recording) => {
        const { files } = readSkillForm(request.body)
        return byId.create(files, { by: request.key?.id ?? null }, recording)
      },
      ({ skill, newest }) => toSkill(recordOf(skill, newest)),
    ),
  )

  app.get('/skills', { schema: list, ...reading }, async ({ query }) =>
    readPage(
      query,
      (id) => skills.wasListed(id),
      (page) => skills.records({ ...page, shells: false }),
      toSkill,
    ),
  )

  app.get('/skills/:id', { schema: one, ...reading }, async ({ params }) =>
    toSkill(await byId.find(params.id)),
  )

  app.post('/skills/:id', { schema: update, ...writing }, async (request, reply) =>
    answer<SkillRecord>(
      request,
      reply,
      async (recording) => {
        const version = `${request.body.default_version}`
        return byId.makeCurrent(request.params.id, version, recording)
      },
      toSkill,
    ),
  )

  app.delete('/skills/:id', { schema: one, ...writing }, async ({ params }) => {
    await byId.remove(params.id)
    return { id: params.id, object: 'skill.deleted', deleted: true }
  })

  app.get('/skills/:id/content', { schema: one, ...reading }, async ({ params }, reply) => {
    const { name, shown } = await byId.find(params.id)
    return sendContent(skills, reply, { name, version: shown?.version ?? 0 })
  })
}
