import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { AppError } from '../errors.ts'
import { BundleBody, bundleContent, takeBundles } from '../http/bundle-body.ts'
import { type Idempotency, idempotencyHeader, jsonAnswer } from '../http/idempotency.ts'
import {
  ImportLine,
  ImportResource,
  toImportLines,
  toImportResource,
  toText,
} from '../http/import-resource.ts'
import { sendLines } from '../http/ndjson.ts'
import { problemResponses } from '../http/problem.ts'
import type { Archive, ArchiveLimits } from '../registry/archives/archive.ts'
import { readArchive } from '../registry/archives/read-archive.ts'
import { openImport } from '../registry/import.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'
import type { Answer } from '../store/idempotency.ts'
import type { SkillStore } from '../store/skills.ts'

const importSkills = {
  operationId: 'importSkills',
  summary: 'Store every skill of an archive',
  description:
    'A skill is a folder that holds a SKILL.md, with all that lies below it. One that is refused stops no other. The same archive again changes nothing.',
  tags: ['skills'],
  querystring: Strict({
    mode: Type.Optional(
      Type.Enum(['strict', 'lenient'], {
        default: 'strict',
        description: 'Whether faults are refused, or repaired where they can be',
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Tell what would be, and store nothing' })),
    note: Type.Optional(Type.String({ maxLength: 1000, description: 'Kept with the versions' })),
  }),
  headers: Type.Object(idempotencyHeader),
  body: { content: bundleContent },
  response: {
    200: {
      description: 'What became of each skill, in the order of the folders',
      content: {
        'application/json': { schema: ImportResource },
        'application/x-ndjson': { schema: ImportLine },
      },
    },
    ...problemResponses,
  },
}

interface Options {
  registry: Registry
  idempotency: Idempotency
  skills: SkillStore
  /** `packed` in bytes. */
  limits: ArchiveLimits & { packed: number }
  stallMs?: number | undefined
}

export const importRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, skills, idempotency, limits, stallMs } = options
  takeBundles(app)
  const route = {
    schema: importSkills,
    config: { scope: 'skills:write' },
    bodyLimit: limits.packed,
  } as const

  app.post('/skills/import', route, async (request, reply) => {
    const { body, headers, key, query } = request
    const { mode = 'strict', dry_run: rehearsal = false, note = null } = query
    if (!(body instanceof BundleBody)) {
      throw new AppError('media_type', 'Send an archive, or the files of a form.')
    }
    const { content } = body
    const manner = { source: { type: 'api' }, by: key?.id ?? null, note } as const
    const begin = async () =>
      openImport(await open(content), { registry, skills, mode, manner, rehearsal })

    const asLines = /\bapplication\/x-ndjson\b/.test(headers.accept ?? '')
    // What is kept for an idempotency key is kept, and sent, as a whole.
    if (asLines && headers['idempotency-key'] === undefined) {
      return sendLines(reply, toImportLines(await begin()), stallMs)
    }
    return idempotency.run(
      request,
      reply,
      async () => toImportResource(await begin()),
      (done) => (asLines ? linesAnswer(done) : jsonAnswer(200, done)),
    )
  })

  async function open(content: BundleBody['content']): Promise<Archive> {
    if ('format' in content) return readArchive(content.bytes, content.format, limits)
    if (content.length > limits.entries) {
      const what = `The form has ${content.length} files, of ${limits.entries} allowed.`
      throw new AppError('archive_too_large', what)
    }
    return { entries: content, files: () => Readable.from(content) }
  }
}

const linesAnswer = (done: Static<typeof ImportResource>): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/x-ndjson' },
  body: toText(done),
})
