import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Published } from '../../store/skills.ts'
import { sendContent } from '../send-content.ts'
import { badField, readSkillForm, type SkillForm } from '../skill-form.ts'
import { openSkillRoutes, type SkillRouteParts } from '../skill-routes.ts'
import { pageQuery, readPage, toVersion } from './resources.ts'

const ofSkill = Type.Object({ id: Type.String() })
const create = { hide: true, params: ofSkill }
const list = { hide: true, params: ofSkill, querystring: pageQuery }
const one = { hide: true, params: Type.Object({ id: Type.String(), version: Type.String() }) }

/** The versions of OpenAI's Skills API; a new one is the default only where that is asked for. */
export const openaiVersionRoutes: FastifyPluginAsyncTypebox<SkillRouteParts> = async (
  app,
  options,
) => {
  const { skills, byId } = options
  const { reading, writing, answer } = openSkillRoutes(app, 'openai', options.idempotency)

  app.post('/skills/:id/versions', { schema: create, ...writing }, async (request, reply) =>
    answer<Published>(
      request,
      reply,
      async (recording) => {
        const form = readSkillForm(request.body)
        const by = request.key?.id ?? null
        const manner = { by, activate: readDefault(form), shells: false }
        return byId.addVersion(request.params.id, form.files, manner, recording)
      },
      ({ newest }) => toVersion(newest),
    ),
  )

  app.get('/skills/:id/versions', { schema: list, ...reading }, async (request) => {
    const { id } = request.params
    await byId.find(id)
    return readPage(
      request.query,
      (after) => skills.wasListed(after, id),
      (page) => skills.versionRecords(id, page),
      toVersion,
    )
  })

  app.get('/skills/:id/versions/:version', { schema: one, ...reading }, async (request) => {
    const { id, version } = request.params
    return toVersion(await byId.findVersion(id, version))
  })

  app.get(
    '/skills/:id/versions/:version/content',
    { schema: one, ...reading },
    async ({ params }, reply) =>
      sendContent(skills, reply, await byId.findVersion(params.id, params.version)),
  )

  app.delete('/skills/:id/versions/:version', { schema: one, ...writing }, async ({ params }) => {
    const manner = { last: 'skill', shown: 'refuse' } as const
    const { id, version } = await byId.removeVersion(params.id, params.version, manner)
    return { id, object: 'skill.version.deleted', deleted: true, version: `${version}` }
  })
}

function readDefault({ field }: SkillForm): boolean {
  const text = field('default') ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw badField('default', 'The field "default" is "true" or "false".')
}
