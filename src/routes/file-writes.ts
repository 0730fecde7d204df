import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { skillTag } from '../domain/precondition.ts'
import { etagHeader, preconditionHeaders, quote, readPrecondition } from '../http/etag.ts'
import { type Idempotency, idempotencyHeader, jsonAnswer } from '../http/idempotency.ts'
import { problemResponses } from '../http/problem.ts'
import { FileParam, SkillParam } from '../http/skill-params.ts'
import { toWrittenSkill, WrittenSkill } from '../http/skill-resource.ts'
import type { PublishedFile, Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'

const shared = {
  tags: ['skills'],
  params: Type.Object({ name: SkillParam, '*': FileParam }),
  querystring: Strict({
    note: Type.Optional(Type.String({ maxLength: 1000, description: 'Kept with the version' })),
  }),
}
const written = (description: string) => ({
  description,
  headers: etagHeader,
  content: { 'application/json': { schema: WrittenSkill } },
})
// Without a type: whatever comes is bytes when it is checked.
const Bytes = Type.Unsafe<Uint8Array>({ format: 'binary' })

const put = {
  ...shared,
  operationId: 'putSkillFile',
  summary: 'Put a file into a skill, as a new version',
  description:
    'Takes any media type, and keeps the bytes; the type a file is served with comes from its path. If-Match takes the tag of the file or of the skill.',
  headers: Type.Object({ ...preconditionHeaders, ...idempotencyHeader }),
  body: { content: { '*/*': { schema: { ...Bytes, examples: ['# Notes\n'] } } } },
  response: {
    200: written('The skill, with other bytes in the file'),
    201: written('The skill, with a file more'),
    ...problemResponses,
  },
}
const remove = {
  ...shared,
  operationId: 'deleteSkillFile',
  summary: 'Take a file out of a skill, as a new version',
  headers: Type.Object(preconditionHeaders),
  response: { 200: written('The skill without the file'), ...problemResponses },
}

interface Options {
  registry: Registry
  idempotency: Idempotency
}

/** Single files of a skill; each change is a version, and checked as a whole upload is. */
export const fileWriteRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, idempotency } = options
  const config = { scope: 'skills:write' } as const
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) => bytes)

  app.put('/skills/:name/files/*', { schema: put, config }, async (request, reply) => {
    const { body } = request
    return change(request, reply, body instanceof Uint8Array ? body : new Uint8Array())
  })

  app.delete('/skills/:name/files/*', { schema: remove, config }, async (request, reply) =>
    change(request, reply, null),
  )

  async function change(
    request: FastifyRequest<{
      Params: { name: string; '*': string }
      Querystring: { note?: string }
    }>,
    reply: FastifyReply,
    bytes: Uint8Array | null,
  ) {
    const { name, '*': path } = request.params
    const manner = {
      source: { type: 'api' } as const,
      by: request.key?.id ?? null,
      note: request.query.note ?? null,
      precondition: readPrecondition(request),
    }
    return idempotency.run<PublishedFile>(
      request,
      reply,
      (recording) => registry.changeFile(name, { path, bytes }, manner, recording),
      toAnswer,
    )
  }
}

function toAnswer({ outcome, skill, skipped, added }: PublishedFile) {
  const status = added && outcome !== 'unchanged' ? 201 : 200
  return jsonAnswer(status, toWrittenSkill(skill, skipped), { etag: quote(skillTag(skill)) })
}
