import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { problemResponses } from '../http/problem.ts'
import { ARCHIVE_MEDIA_TYPES, sendArchive } from '../http/send-archive.ts'
import { SkillParam, VersionParam } from '../http/skill-params.ts'
import type { ArchiveFormat } from '../registry/archives/archive.ts'
import { refuseBeyondZip } from '../registry/archives/write-archive.ts'
import { exportedFiles, filesInFolder, planExport } from '../registry/export.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'
import type { SkillStore } from '../store/skills.ts'

const OfSkill = Type.Object({ name: SkillParam })
const OfVersion = Type.Object({ name: SkillParam, version: VersionParam })

const Query = (standard: ArchiveFormat) =>
  Strict({
    format: Type.Optional(
      Type.Enum(['zip', 'tgz'], { default: standard, description: 'The kind of archive' }),
    ),
  })
const Binary = { schema: Type.String({ format: 'binary' }) }
const response = {
  200: {
    description: 'The archive, as an attachment; the same files make the same bytes',
    content: Object.fromEntries(Object.values(ARCHIVE_MEDIA_TYPES).map((type) => [type, Binary])),
  },
  ...problemResponses,
}

const archive = {
  summary: 'Download a skill with its files, in one folder',
  tags: ['skills'],
  querystring: Query('zip'),
  response,
}
const schemas = {
  getArchive: { operationId: 'getSkillArchive', ...archive, params: OfSkill },
  getVersionArchive: { operationId: 'getVersionArchive', ...archive, params: OfVersion },
  getExport: {
    operationId: 'exportSkills',
    summary: 'Download the current version of every skill, for an import',
    description:
      'A folder for each skill. Drafts, which have no current version, are not in it. What was stored with mode=lenient is taken back by an import with mode=lenient.',
    tags: ['skills'],
    querystring: Query('tgz'),
    response,
  },
}

interface Options {
  registry: Pick<Registry, 'notFound'>
  skills: SkillStore
}

/** Skills as archives, one of them or all. */
export const archiveRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, skills } = options
  const config = { scope: 'skills:read' } as const

  app.get(
    '/skills/:name/archive',
    { schema: schemas.getArchive, config },
    async (request, reply) => {
      const { name } = request.params
      const skill = await skills.find(name)
      if (!skill) throw await registry.notFound(name)
      const version = skill.version ?? skill.latestVersion
      return sendSkill(reply, request.query.format, { ...skill, version })
    },
  )

  app.get(
    '/skills/:name/versions/:version/archive',
    { schema: schemas.getVersionArchive, config },
    async ({ params, query }, reply) => {
      const found = await skills.findVersion(params.name, params.version)
      if (!found) throw await registry.notFound(params.name, params.version)
      return sendSkill(reply, query.format, found)
    },
  )

  app.get('/export', { schema: schemas.getExport, config }, async ({ query }, reply) => {
    const { format = 'tgz' } = query
    const plan = await planExport(skills)
    if (format === 'zip') refuseBeyondZip(plan)
    const files = exportedFiles(skills, plan)
    return sendArchive(reply, { format, name: 'skills', digest: plan.digest, files })
  })

  function sendSkill(
    reply: FastifyReply,
    format: ArchiveFormat = 'zip',
    skill: Parameters<typeof filesInFolder>[1] & { version: number; digest: string },
  ) {
    const { name, digest, version } = skill
    return sendArchive(reply, {
      format,
      name,
      digest,
      files: filesInFolder(skills, skill, version),
    })
  }
}
