import { type FastifyPluginAsyncTypebox, type Static, Type } from '@fastify/type-provider-typebox'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyContextConfig, FastifyReply } from 'fastify'
import type { Agent } from '../../agent/agent.ts'
import { AppError } from '../../errors.ts'
import { quote } from '../../http/etag.ts'
import type { SnapshotFilter } from '../../registry/snapshot.ts'
import type { DefinitionStore } from '../../store/definitions.ts'
import type { SkillStore } from '../../store/skills.ts'
import { speakAs } from '../family.ts'
import { openDiscovery } from './discovery.ts'
import { toFileIndex, toIndex } from './indexes.ts'

interface Options {
  skills: SkillStore
  agents: Pick<DefinitionStore<Agent>, 'find'>
  /** Whether anybody may read, or only who has a key. */
  access: 'public' | 'keys'
}

const Scoped = Type.Object({
  agent: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
})
const Below = Type.Object({ ...Scoped.properties, '*': Type.String() })
const ARCHIVE = /^([^/]+)\.tar\.gz$/
const FILE = /^([^/]+)\/(.+)$/

/** Discovery by well-known URI, 0.2.0 and 0.1.0: of all skills, of an agent's and of a tag's. */
export const wellKnownRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, agents, access } = options
  const discovery = openDiscovery(skills)
  const config: FastifyContextConfig = access === 'keys' ? { scope: 'skills:read' } : {}
  speakAs(app)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (access === 'public') reply.header('access-control-allow-origin', '*')
  })
  app.addHook('onSend', async (_request, reply) => {
    const who = access === 'public' ? 'public' : 'private'
    if (reply.statusCode < 400) reply.header('cache-control', `${who}, max-age=60`)
    if (reply.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  })

  const index = { schema: { hide: true, params: Scoped }, config }
  const below = { schema: { hide: true, params: Below }, config }
  for (const prefix of ['', '/agents/:agent', '/tags/:tag']) {
    const newer = `${prefix}/.well-known/agent-skills`
    const older = `${prefix}/.well-known/skills`
    app.get(`${newer}/index.json`, index, async ({ params }) => {
      const { base, filter } = await scopeOf(params)
      return toIndex(`${base}/.well-known/agent-skills`, await discovery.list(filter))
    })
    app.get(`${older}/index.json`, index, async ({ params }) => {
      const { filter } = await scopeOf(params)
      return toFileIndex(await discovery.list(filter))
    })
    app.get(`${newer}/*`, below, async ({ params }, reply) => {
      const { filter } = await scopeOf(params)
      const [, name] = ARCHIVE.exec(params['*']) ?? []
      return name === undefined
        ? sendFile(reply, filter, params['*'])
        : sendArchive(reply, filter, name)
    })
    app.get(`${older}/*`, below, async ({ params }, reply) => {
      const { filter } = await scopeOf(params)
      return sendFile(reply, filter, params['*'])
    })
  }

  /** Which skills there are below a path, and the path, as it is written in front of theirs. */
  async function scopeOf({ agent, tag }: Static<typeof Scoped>) {
    if (agent !== undefined) {
      const found = await agents.find(agent)
      if (!found) throw new AppError('agent_not_found', 'There is no agent of that name.')
      return { base: `/agents/${encodeURIComponent(agent)}`, filter: found.definition.skills }
    }
    if (tag === undefined) return { base: '', filter: { names: null, tags: null } }
    return { base: `/tags/${encodeURIComponent(tag)}`, filter: { names: null, tags: [tag] } }
  }

  async function sendArchive(reply: FastifyReply, filter: SnapshotFilter, name: string) {
    const offer = await discovery.find(filter, name)
    if (offer?.type !== 'archive') {
      throw new AppError('skill_not_found', `No archive of a skill "${name}" is here.`)
    }
    return reply
      .header('etag', quote(offer.digest))
      .type('application/gzip')
      .send(await discovery.archive(offer))
  }

  async function sendFile(reply: FastifyReply, filter: SnapshotFilter, below: string) {
    const [, name = '', path = ''] = FILE.exec(below) ?? []
    const offer = await discovery.find(filter, name)
    if (!offer) throw new AppError('skill_not_found', 'No skill of that name is here.')
    const { version, digest } = offer.entry
    // Only a path that is there is asked for: no storage has to bear any other.
    const known = offer.files.some((file) => file.path === path)
    const file = known ? await skills.readFile(name, path, version) : undefined
    if (file?.digest !== digest) {
      throw new AppError('file_not_found', `"${name}" has no file of that path.`)
    }
    reply.header('etag', quote(`sha256:${file.sha256}`))
    if (path === 'SKILL.md') reply.type('text/markdown; charset=utf-8')
    else {
      const disposition = contentDisposition(path.split('/').at(-1))
      reply.header('content-disposition', disposition).type(file.mediaType)
    }
    return reply.send(Buffer.from(file.bytes))
  }
}
