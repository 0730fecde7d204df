import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { skillTag } from '../domain/precondition.ts'
import { AppError } from '../errors.ts'
import { etagHeader, preconditionHeaders, quote, readPrecondition } from '../http/etag.ts'
import { type Idempotency, idempotencyHeader, jsonAnswer } from '../http/idempotency.ts'
import { takeJson } from '../http/json-body.ts'
import { problemResponses } from '../http/problem.ts'
import { SkillParam } from '../http/skill-params.ts'
import { toWrittenSkill, WrittenSkill } from '../http/skill-resource.ts'
import { skillParts } from '../http/skill-upload.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'
import type { Published, StoredSkill } from '../store/skills.ts'

const Params = Type.Object({ name: SkillParam })
const Patch = Strict({
  description: Type.Optional(Type.String()),
  ...skillParts,
  body: Type.Optional(Type.String()),
  enabled: Type.Optional(Type.Boolean()),
  current_version: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Back to an earlier version, or forward again' }),
  ),
})

const patch = {
  operationId: 'patchSkill',
  summary: 'Edit a skill in place, switch it, or roll it back',
  tags: ['skills'],
  params: Params,
  querystring: Strict({
    note: Type.Optional(Type.String({ maxLength: 1000, description: 'Kept with the version' })),
  }),
  headers: Type.Object({ ...preconditionHeaders, ...idempotencyHeader }),
  body: {
    content: {
      'application/json': { schema: { ...Patch, examples: [{ description: 'New words.' }] } },
      'application/merge-patch+json': { schema: { ...Patch, examples: [{ enabled: false }] } },
    },
  },
  response: {
    200: {
      description: 'The skill as it is now',
      headers: etagHeader,
      content: { 'application/json': { schema: WrittenSkill } },
    },
    ...problemResponses,
  },
}
const remove = {
  operationId: 'deleteSkill',
  summary: 'Delete a skill with all its versions',
  tags: ['skills'],
  params: Params,
  headers: Type.Object(preconditionHeaders),
  response: { 204: Type.Null({ description: 'Deleted' }), ...problemResponses },
}

interface Options {
  registry: Registry
  idempotency: Idempotency
}

export const skillEditRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, idempotency } = options
  const config = { scope: 'skills:write' } as const
  takeJson(app, 'application/merge-patch+json')

  app.patch('/skills/:name', { schema: patch, config }, async (request, reply) => {
    const { name } = request.params
    const {
      enabled,
      current_version: currentVersion,
      ...edit
    } = request.body as Static<typeof Patch>
    const precondition = readPrecondition(request)
    const edits = Object.keys(edit).length > 0
    if (edits && currentVersion !== undefined) {
      const message = '"current_version" cannot be changed together with an edit.'
      const field = '/current_version'
      throw new AppError('body_invalid', message, {
        errors: [{ code: 'body_invalid', message, field }],
      })
    }
    const note = request.query.note ?? null
    const manner = { source: { type: 'api' } as const, by: request.key?.id ?? null, note }

    if (edits) {
      return idempotency.run<Published>(
        request,
        reply,
        (recording) =>
          registry.edit(
            name,
            edit,
            { ...manner, precondition, ...(enabled !== undefined && { enabled }) },
            recording,
          ),
        ({ skill }) => toAnswer(skill),
      )
    }
    const change = {
      ...(enabled !== undefined && { enabled }),
      ...(currentVersion !== undefined && { currentVersion }),
      ...(precondition && { precondition }),
    }
    return idempotency.run<StoredSkill>(
      request,
      reply,
      (recording) => registry.change(name, change, recording),
      toAnswer,
    )
  })

  app.delete('/skills/:name', { schema: remove, config }, async (request, reply) => {
    await registry.remove(request.params.name, readPrecondition(request))
    return reply.code(204).send(null)
  })
}

const toAnswer = (skill: StoredSkill) =>
  jsonAnswer(200, toWrittenSkill(skill), { etag: quote(skillTag(skill)) })
