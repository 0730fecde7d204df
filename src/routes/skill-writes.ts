import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { skillTag } from '../domain/precondition.ts'
import { takeBundles } from '../http/bundle-body.ts'
import { etagHeader, preconditionHeaders, quote, readPrecondition } from '../http/etag.ts'
import { type Idempotency, idempotencyHeader, jsonAnswer } from '../http/idempotency.ts'
import { problemResponses } from '../http/problem.ts'
import { SkillParam } from '../http/skill-params.ts'
import {
  CheckResource,
  toCheckResource,
  toWrittenSkill,
  WrittenSkill,
} from '../http/skill-resource.ts'
import { MARKDOWN_TYPES, readFiles, type SkillUpload, skillBody } from '../http/skill-upload.ts'
import type { PublishedUpload, Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'

const reading = {
  mode: Type.Optional(
    Type.Enum(['strict', 'lenient'], {
      default: 'strict',
      description: 'Whether faults are refused, or repaired where they can be',
    }),
  ),
  name: Type.Optional(Type.String({ description: 'What to fall back to, or to agree with' })),
}
const Query = Strict({
  ...reading,
  dry_run: Type.Optional(Type.Boolean({ description: 'Check everything, and store nothing' })),
  activate: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether the version becomes the current one' }),
  ),
  note: Type.Optional(Type.String({ maxLength: 1000, description: 'Kept with the version' })),
})
const Params = Type.Object({ name: SkillParam })
const Headers = Type.Object({ ...preconditionHeaders, ...idempotencyHeader })

const written = {
  200: {
    description: 'The skill as it is now; with dry_run, what it would have been',
    headers: etagHeader,
    content: { 'application/json': { schema: Type.Union([WrittenSkill, CheckResource]) } },
  },
  201: {
    description: 'The new skill',
    headers: {
      ...etagHeader,
      location: Type.String({ description: 'The path of the new skill' }),
    },
    content: { 'application/json': { schema: WrittenSkill } },
  },
}
const create = {
  operationId: 'createSkill',
  summary: 'Store a new skill',
  tags: ['skills'],
  querystring: Query,
  headers: Headers,
  body: skillBody,
  response: { ...written, ...problemResponses },
}
const put = {
  operationId: 'putSkill',
  summary: 'Store a skill, or its next version',
  tags: ['skills'],
  params: Params,
  querystring: Query,
  headers: Headers,
  body: skillBody,
  response: { ...written, ...problemResponses },
}
const validate = {
  operationId: 'validateSkill',
  summary: 'Check a skill, and store nothing',
  tags: ['skills'],
  querystring: Strict(reading),
  body: skillBody,
  response: { 200: CheckResource, ...problemResponses },
}

interface Options {
  registry: Registry
  idempotency: Idempotency
}

export const skillWriteRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, idempotency } = options
  app.addContentTypeParser(MARKDOWN_TYPES, { parseAs: 'buffer' }, keepBytes)
  takeBundles(app)
  const config = { scope: 'skills:write' } as const

  app.post('/skills', { schema: create, config }, async (request, reply) =>
    publish(request, reply, { createOnly: true }),
  )

  app.put('/skills/:name', { schema: put, config }, async (request, reply) =>
    publish(request, reply, { expectedName: request.params.name }),
  )

  app.post('/skills/validate', { schema: validate, config }, async ({ body, query }) => {
    const { mode = 'strict', name } = query
    const files = readFiles(body as SkillUpload)
    const checked =
      'format' in files
        ? await registry.checkPacked(files, { mode, name })
        : await registry.check({ files, mode, name })
    return toCheckResource(checked)
  })

  async function publish(
    request: FastifyRequest<{ Querystring: Static<typeof Query> }>,
    reply: FastifyReply,
    target: { createOnly?: true; expectedName?: string },
  ) {
    const { mode = 'strict', name, dry_run, activate = true, note = null } = request.query
    const { createOnly = false, expectedName } = target
    const files = readFiles(request.body as SkillUpload)
    const readUpload = async () => ({
      files: 'format' in files ? await registry.unpack(files) : files,
      mode,
      name,
      expectedName,
    })
    const manner = {
      source: { type: 'api' } as const,
      by: request.key?.id ?? null,
      note,
      activate,
      createOnly,
      precondition: readPrecondition(request),
    }
    if (dry_run) return toCheckResource(await registry.rehearse(await readUpload(), manner))
    return idempotency.run<PublishedUpload>(
      request,
      reply,
      async (recording) => registry.publish(await readUpload(), manner, recording),
      (published) => toAnswer(app.prefix, published),
    )
  }
}

const keepBytes = async (_: unknown, bytes: Buffer) => bytes

/** What a write answers; kept as it is for a request that is sent again. */
function toAnswer(prefix: string, { outcome, skill, skipped }: PublishedUpload) {
  const etag = quote(skillTag(skill))
  const body = toWrittenSkill(skill, skipped)
  if (outcome !== 'created') return jsonAnswer(200, body, { etag })
  return jsonAnswer(201, body, { etag, location: `${prefix}/skills/${skill.name}` })
}
