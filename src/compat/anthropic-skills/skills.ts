import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { takeForms } from '../../http/bundle-body.ts'
import { type Idempotency, jsonAnswer } from '../../http/idempotency.ts'
import type { SkillsById } from '../../registry/skills-by-id.ts'
import { recordOf } from '../../store/skill-records.ts'
import type { Published, SkillStore } from '../../store/skills.ts'
import { speakAs, toRefusal } from '../family.ts'
import { readSkillForm } from '../skill-form.ts'
import { pageQuery, readPage } from './page.ts'
import { shapeOf } from './shape.ts'

const params = Type.Object({ id: Type.String() })
const create = { hide: true }
const list = {
  hide: true,
  querystring: Type.Object({ ...pageQuery, source: Type.Optional(Type.String()) }),
}
const one = { hide: true, params }

interface Options {
  skills: Pick<SkillStore, 'records'>
  byId: SkillsById
  idempotency: Idempotency
}

/** The skills of Anthropic's Skills API (contracts.md 4). */
export const anthropicSkillRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, byId, idempotency } = options
  speakAs(app, 'anthropic')
  takeForms(app)
  const constraints = { family: 'anthropic' }
  const config = { scope: 'skills:read' } as const
  const writing = { scope: 'skills:write' } as const

  app.post('/skills', { schema: create, config: writing, constraints }, async (request, reply) => {
    const shape = shapeOf(request)
    const { displayField } = shape
    return idempotency.run<Published>(
      request,
      reply,
      async (recording) => {
        const { files, field } = readSkillForm(request.body)
        const own = field(displayField)
        const displayName = own ?? field('display_name') ?? field('display_title')
        return byId.create(files, { by: request.key?.id ?? null, displayName }, recording)
      },
      ({ skill, newest }) => jsonAnswer(200, shape.toSkill(recordOf(skill, newest))),
      (error) => toRefusal(error, request, 'anthropic'),
    )
  })

  app.get('/skills', { schema: list, config, constraints }, async (request) => {
    const { source = 'custom', ...query } = request.query
    const { shells, toSkill } = shapeOf(request)
    return readPage(
      'anthropic:skills',
      query,
      async (page) => (source === 'custom' ? await skills.records({ ...page, shells }) : []),
      toSkill,
    )
  })

  app.get('/skills/:id', { schema: one, config, constraints }, async (request) => {
    const { shells, toSkill } = shapeOf(request)
    return toSkill(await byId.find(request.params.id, { shells }))
  })

  app.delete('/skills/:id', { schema: one, config: writing, constraints }, async (request) => {
    const { id } = request.params
    await byId.remove(id, { emptyOnly: shapeOf(request).shells })
    return { id, type: 'skill_deleted' }
  })
}
