import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { takeForms } from '../../http/bundle-body.ts'
import { type Idempotency, jsonAnswer } from '../../http/idempotency.ts'
import type { SkillsById } from '../../registry/skills-by-id.ts'
import type { Published, SkillStore } from '../../store/skills.ts'
import { speakAs, toRefusal } from '../family.ts'
import { sendContent } from '../send-content.ts'
import { badField, readSkillForm, type SkillForm } from '../skill-form.ts'
import { pageQuery, readPage, toVersion } from './resources.ts'

const ofSkill = Type.Object({ id: Type.String() })
const create = { hide: true, params: ofSkill }
const list = { hide: true, params: ofSkill, querystring: pageQuery }
const one = { hide: true, params: Type.Object({ id: Type.String(), version: Type.String() }) }

interface Options {
  skills: SkillStore
  byId: SkillsById
  idempotency: Idempotency
}

/** The versions of OpenAI's Skills API; a new one is the default only where that is asked for. */
export const openaiVersionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, byId, idempotency } = options
  speakAs(app, 'openai')
  takeForms(app)
  const constraints = { family: 'openai' }
  const config = { scope: 'skills:read' } as const
  const writing = { scope: 'skills:write' } as const

  app.post(
    '/skills/:id/versions',
    { schema: create, config: writing, constraints },
    async (request, reply) =>
      idempotency.run<Published>(
        request,
        reply,
        async (recording) => {
          const form = readSkillForm(request.body)
          const by = request.key?.id ?? null
          const manner = { by, activate: readDefault(form), shells: false }
          return byId.addVersion(request.params.id, form.files, manner, recording)
        },
        ({ newest }) => jsonAnswer(200, toVersion(newest)),
        (error) => toRefusal(error, request, 'openai'),
      ),
  )

  app.get('/skills/:id/versions', { schema: list, config, constraints }, async (request) => {
    const { id } = request.params
    await byId.find(id)
    return readPage(
      request.query,
      (after) => skills.wasListed(after, id),
      (page) => skills.versionRecords(id, page),
      toVersion,
    )
  })

  app.get(
    '/skills/:id/versions/:version',
    { schema: one, config, constraints },
    async (request) => {
      const { id, version } = request.params
      return toVersion(await byId.findVersion(id, version))
    },
  )

  app.get(
    '/skills/:id/versions/:version/content',
    { schema: one, config, constraints },
    async ({ params }, reply) =>
      sendContent(skills, reply, await byId.findVersion(params.id, params.version)),
  )

  app.delete(
    '/skills/:id/versions/:version',
    { schema: one, config: writing, constraints },
    async ({ params }) => {
      const manner = { last: 'skill', shown: 'refuse' } as const
      const { id, version } = await byId.removeVersion(params.id, params.version, manner)
      return { id, object: 'skill.version.deleted', deleted: true, version: `${version}` }
    },
  )
}

function readDefault({ field }: SkillForm): boolean {
  const text = field('default') ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw badField('default', 'The field "default" is "true" or "false".')
}
