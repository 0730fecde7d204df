import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply } from 'fastify'
import { loadText } from '../agent/tools/load-skill.ts'
import { AppError } from '../errors.ts'
import { quote } from '../http/etag.ts'
import { problemResponses } from '../http/problem.ts'
import { FileParam, SkillParam, VersionParam } from '../http/skill-params.ts'
import { FileList, toFileResources } from '../http/skill-resource.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'
import type { SkillStore } from '../store/skills.ts'

const OfSkill = Type.Object({ name: SkillParam })
const OfVersion = Type.Object({ name: SkillParam, version: VersionParam })
const FileOfSkill = Type.Object({ name: SkillParam, '*': FileParam })
const FileOfVersion = Type.Object({ ...OfVersion.properties, '*': FileParam })

type Format = 'raw' | 'body' | 'wrapped'
const content = {
  summary: 'Read the SKILL.md',
  tags: ['skills'],
  querystring: Strict({
    format: Type.Optional(
      Type.Enum(['raw', 'body', 'wrapped'], {
        default: 'raw',
        description: 'The file byte for byte, its body, or what load_skill returns',
      }),
    ),
  }),
  response: {
    200: {
      description: 'The text',
      content: { 'text/markdown': { schema: Type.String() } },
    },
    ...problemResponses,
  },
}
const files = {
  summary: 'List the bundled files',
  tags: ['skills'],
  response: { 200: FileList, ...problemResponses },
}
const file = {
  summary: 'Download a bundled file',
  tags: ['skills'],
  response: {
    200: {
      description: 'Its bytes, as an attachment',
      content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
    },
    ...problemResponses,
  },
}

const schemas = {
  getContent: { operationId: 'getSkillContent', ...content, params: OfSkill },
  getVersionContent: { operationId: 'getVersionContent', ...content, params: OfVersion },
  listFiles: { operationId: 'listSkillFiles', ...files, params: OfSkill },
  listVersionFiles: { operationId: 'listVersionFiles', ...files, params: OfVersion },
  getFile: { operationId: 'getSkillFile', ...file, params: FileOfSkill },
  getVersionFile: { operationId: 'getVersionFile', ...file, params: FileOfVersion },
}

interface Options {
  registry: Pick<Registry, 'notFound'>
  skills: SkillStore
}

/** The texts and files of a skill, in its current version or in a numbered one. */
export const contentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, skills } = options
  const config = { scope: 'skills:read' } as const

  app.get('/skills/:name/content', { schema: schemas.getContent, config }, async (request, reply) =>
    sendContent(reply, request.query.format, request.params.name),
  )
  app.get(
    '/skills/:name/versions/:version/content',
    { schema: schemas.getVersionContent, config },
    async ({ query, params }, reply) =>
      sendContent(reply, query.format, params.name, params.version),
  )
  app.get('/skills/:name/files', { schema: schemas.listFiles, config }, async ({ params }) =>
    listFiles(params.name),
  )
  app.get(
    '/skills/:name/versions/:version/files',
    { schema: schemas.listVersionFiles, config },
    async ({ params }) => listFiles(params.name, params.version),
  )
  app.get('/skills/:name/files/*', { schema: schemas.getFile, config }, async ({ params }, reply) =>
    sendFile(reply, params['*'], params.name),
  )
  app.get(
    '/skills/:name/versions/:version/files/*',
    { schema: schemas.getVersionFile, config },
    async ({ params }, reply) => sendFile(reply, params['*'], params.name, params.version),
  )

  async function sendContent(
    reply: FastifyReply,
    format: Format = 'raw',
    name: string,
    version?: number,
  ) {
    reply.header('x-content-type-options', 'nosniff').type('text/markdown; charset=utf-8')
    if (format === 'raw') {
      const found = await skills.readFile(name, 'SKILL.md', version)
      if (!found) throw await registry.notFound(name, version)
      return reply.header('etag', quote(found.digest)).send(Buffer.from(found.bytes))
    }
    const skill = await read(name, version)
    const text = format === 'body' ? skill.body : loadText(skill)
    return reply.header('etag', quote(`${skill.digest}-${format}-${skill.version}`)).send(text)
  }

  async function listFiles(name: string, version?: number) {
    return { data: toFileResources((await read(name, version)).files) }
  }

  async function sendFile(reply: FastifyReply, path: string, name: string, version?: number) {
    const found = await skills.readFile(name, path, version)
    if (!found) {
      await read(name, version)
      throw new AppError('file_not_found', `"${name}" has no file of that path.`)
    }
    return reply
      .header('etag', quote(`sha256:${found.sha256}`))
      .header('x-content-type-options', 'nosniff')
      .header('content-disposition', contentDisposition(path.split('/').at(-1)))
      .type(found.mediaType)
      .send(Buffer.from(found.bytes))
  }

  async function read(name: string, version: number | undefined) {
    if (version !== undefined) {
      const found = await skills.findVersion(name, version)
      if (!found) throw await registry.notFound(name, version)
      return found
    }
    const skill = await skills.find(name)
    if (!skill) throw await registry.notFound(name)
    return { ...skill, version: skill.version ?? skill.latestVersion }
  }
}
