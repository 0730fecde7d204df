import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { takeForms } from '../../http/bundle-body.ts'
import { type Idempotency, jsonAnswer } from '../../http/idempotency.ts'
import type { SkillsById } from '../../registry/skills-by-id.ts'
import { recordOf, type SkillRecord } from '../../store/skill-records.ts'
import type { Published, SkillStore } from '../../store/skills.ts'
import { speakAs, toRefusal } from '../family.ts'
import { sendContent } from '../send-content.ts'
import { readSkillForm } from '../skill-form.ts'
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

interface Options {
  skills: SkillStore
  byId: SkillsById
  idempotency: Idempotency
}

/** The skills of OpenAI's Skills API (contracts.md 5). */
export const openaiSkillRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, byId, idempotency } = options
  speakAs(app, 'openai')
  takeForms(app)
  const constraints = { family: 'openai' }
  const config = { scope: 'skills:read' } as const
  const writing = { scope: 'skills:write' } as const

  app.post('/skills', { schema: create, config: writing, constraints }, async (request, reply) =>
    idempotency.run<Published>(
      request,
      reply,
      async (recording) => {
        const { files } = readSkillForm(request.body)
        return byId.create(files, { by: request.key?.id ?? null }, recording)
      },
      ({ skill, newest }) => jsonAnswer(200, toSkill(recordOf(skill, newest))),
      (error) => toRefusal(error, request, 'openai'),
    ),
  )

  app.get('/skills', { schema: list, config, constraints }, async ({ query }) =>
    readPage(
      query,
      (id) => skills.wasListed(id),
      (page) => skills.records({ ...page, shells: false }),
      toSkill,
    ),
  )

  app.get('/skills/:id', { schema: one, config, constraints }, async ({ params }) =>
    toSkill(await byId.find(params.id)),
  )

  app.post(
    '/skills/:id',
    { schema: update, config: writing, constraints },
    async (request, reply) =>
      idempotency.run<SkillRecord>(
        request,
        reply,
        async (recording) => {
          const version = `${request.body.default_version}`
          return byId.makeCurrent(request.params.id, version, recording)
        },
        (skill) => jsonAnswer(200, toSkill(skill)),
        (error) => toRefusal(error, request, 'openai'),
      ),
  )

  app.delete('/skills/:id', { schema: one, config: writing, constraints }, async ({ params }) => {
    await byId.remove(params.id)
    return { id: params.id, object: 'skill.deleted', deleted: true }
  })

  app.get(
    '/skills/:id/content',
    { schema: one, config, constraints },
    async ({ params }, reply) => {
      const { name, shown } = await byId.find(params.id)
      return sendContent(skills, reply, { name, version: shown?.version ?? 0 })
    },
  )
}
