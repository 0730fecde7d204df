import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { recordOf } from '../../store/skill-records.ts'
import type { Published } from '../../store/skills.ts'
import { readSkillForm } from '../skill-form.ts'
import { openSkillRoutes, type SkillRouteParts } from '../skill-routes.ts'
import { pageQuery, readPage } from './page.ts'
import { shapeOf } from './shape.ts'

const params = Type.Object({ id: Type.String() })
const create = { hide: true }
const list = {
  hide: true,
  querystring: Type.Object({ ...pageQuery, source: Type.Optional(Type.String()) }),
}
const one = { hide: true, params }

/** The skills of Anthropic's Skills API (contracts.md 4). */
export const anthropicSkillRoutes: FastifyPluginAsyncTypebox<SkillRouteParts> = async (
  app,
  options,
) => {
  const { skills, byId } = options
  const { reading, writing, answer } = openSkillRoutes(app, 'anthropic', options.idempotency)

  app.post('/skills', { schema: create, ...writing }, async (request, reply) => {
    const shape = shapeOf(request)
    const { displayField } = shape
    return answer<Published>(
      request,
      reply,
      async (recording) => {
        const { files, field } = readSkillForm(request.body)
        const own = field(displayField)
        const displayName = own ?? field('display_name') ?? field('display_title')
        return byId.create(files, { by: request.key?.id ?? null, displayName }, recording)
      },
      ({ skill, newest }) => shape.toSkill(recordOf(skill, newest)),
    )
  })

  app.get('/skills', { schema: list, ...reading }, async (request) => {
    const { source = 'custom', ...query } = request.query
    const { shells, toSkill } = shapeOf(request)
    return readPage(
      'anthropic:skills',
      query,
      async (page) => (source === 'custom' ? await skills.records({ ...page, shells }) : []),
      toSkill,
    )
  })

  app.get('/skills/:id', { schema: one, ...reading }, async (request) => {
    const { shells, toSkill } = shapeOf(request)
    return toSkill(await byId.find(request.params.id, { shells }))
  })

  app.delete('/skills/:id', { schema: one, ...writing }, async (request) => {
    const { id } = request.params
    await byId.remove(id, { emptyOnly: shapeOf(request).shells })
    return { id, type: 'skill_deleted' }
  })
}
