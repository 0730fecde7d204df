import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { takeForms } from '../../http/bundle-body.ts'
import { type Idempotency, jsonAnswer } from '../../http/idempotency.ts'
import type { SkillsById } from '../../registry/skills-by-id.ts'
import type { Published, SkillStore } from '../../store/skills.ts'
import { speakAs, toRefusal } from '../family.ts'
import { sendContent } from '../send-content.ts'
import { readSkillForm } from '../skill-form.ts'
import { pageQuery, readPage } from './page.ts'
import { shapeOf } from './shape.ts'

const ofSkill = Type.Object({ id: Type.String() })
const create = { hide: true, params: ofSkill }
const list = { hide: true, params: ofSkill, querystring: Type.Object(pageQuery) }
const one = { hide: true, params: Type.Object({ id: Type.String(), version: Type.String() }) }

interface Options {
  skills: SkillStore
  byId: SkillsById
  idempotency: Idempotency
}

/** The versions of Anthropic's Skills API; a new one is current at once (contracts.md 4). */
export const anthropicVersionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, byId, idempotency } = options
  speakAs(app, 'anthropic')
  takeForms(app)
  const constraints = { family: 'anthropic' }
  const config = { scope: 'skills:read' } as const
  const writing = { scope: 'skills:write' } as const

  app.post(
    '/skills/:id/versions',
    { schema: create, config: writing, constraints },
    async (request, reply) => {
      const { shells, toVersion } = shapeOf(request)
      const manner = { by: request.key?.id ?? null, activate: true, shells }
      return idempotency.run<Published>(
        request,
        reply,
        async (recording) => {
          const { files } = readSkillForm(request.body)
          return byId.addVersion(request.params.id, files, manner, recording)
        },
        ({ newest }) => jsonAnswer(200, toVersion(newest)),
        (error) => toRefusal(error, request, 'anthropic'),
      )
    },
  )

  app.get('/skills/:id/versions', { schema: list, config, constraints }, async (request) => {
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

  app.get(
    '/skills/:id/versions/:version',
    { schema: one, config, constraints },
    async (request) => {
      const { id, version } = request.params
      return shapeOf(request).toVersion(await byId.findVersion(id, version))
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
    async (request) => {
      const { id, version } = request.params
      const { loss, deletedVersion } = shapeOf(request)
      const removed = await byId.removeVersion(id, version, loss)
      return { id: deletedVersion(removed), type: 'skill_version_deleted' }
    },
  )
}
