import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { skillTag } from '../domain/precondition.ts'
import { queryPhrases } from '../domain/search-terms.ts'
import { AppError } from '../errors.ts'
import { quote } from '../http/etag.ts'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import { SkillParam } from '../http/skill-params.ts'
import {
  SkillHitResource,
  SkillResource,
  toSkillHit,
  toSkillResource,
} from '../http/skill-resource.ts'
import type { Meanings } from '../registry/embeddings/meanings.ts'
import type { Registry } from '../registry/registry.ts'
import { HIT_CURSOR, searchHits } from '../registry/search-hits.ts'
import { Strict } from '../schema.ts'
import { placeOf, type SkillHit, type SkillStore, type SkillSummary } from '../store/skills.ts'

const Params = Type.Object({ name: SkillParam })
const Tags = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 20 })], {
  description: 'Skills that have it; of several, all',
})

const list = {
  operationId: 'listSkills',
  summary: 'List skills, or search them',
  tags: ['skills'],
  querystring: Strict({
    ...pageQuery,
    q: Type.Optional(
      Type.String({
        description:
          'Words to look for in names, descriptions and tags: any of them is a hit, and hits have a `score`. Nothing in it is an operator. With an embeddings endpoint the best 200 by words and meaning',
      }),
    ),
    tag: Type.Optional(Tags),
    tool: Type.Optional(Type.String({ description: 'An entry of allowed-tools' })),
    enabled: Type.Optional(Type.Boolean({ description: 'Whether it is switched on' })),
    source: Type.Optional(Type.Enum(['api', 'directory'], { description: 'Where it came from' })),
    sort: Type.Optional(
      Type.Enum(['name', '-updated_at', 'relevance'], {
        description:
          'By name, the last written first, or the best hit first; by relevance where there is `q`, else by name',
      }),
    ),
  }),
  response: { 200: Page(SkillHitResource), ...problemResponses },
}
const get = {
  operationId: 'getSkill',
  summary: 'Read a skill',
  description: '`Accept: text/markdown` gives the SKILL.md itself.',
  tags: ['skills'],
  params: Params,
  response: {
    200: {
      description: 'The skill',
      content: {
        'application/json': { schema: SkillResource },
        'text/markdown': { schema: Type.Unsafe<string | Buffer>(Type.String()) },
      },
    },
    ...problemResponses,
  },
}

/** What the key of a cursor looks like. */
const CURSORS = {
  name: /^[a-z0-9-]{1,64}$/,
  '-updated_at': /^\d{1,15}$/,
  relevance: /^[\d.e-]{1,25}(?: [a-z0-9-]{1,64}){1,3}$/,
}

/** The list whose cursors go on in a ranking by words and meaning. */
const HITS = 'skills:hits'

interface Options {
  registry: Pick<Registry, 'notFound'>
  skills: SkillStore
  meanings?: Meanings | undefined
}

export const skillRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry, skills, meanings } = options
  const config = { scope: 'skills:read' } as const

  app.get('/skills', { schema: list, config }, async ({ query }) => {
    const { limit = DEFAULT_LIMIT, cursor, q, tag, ...rest } = query
    const { sort = q === undefined ? 'name' : 'relevance', ...filter } = rest
    const wanted = { ...filter, ...(tag !== undefined && { tags: [tag].flat() }) }
    if (meanings && q !== undefined && sort === 'relevance') {
      const after = readCursor(HITS, cursor, HIT_CURSOR)
      const search = { text: q, filter: wanted, after, limit: limit + 1 }
      const { found, cursorOf } = await searchHits({ skills, meanings }, search)
      const page = toPage(HITS, found, limit, ({ name }) => cursorOf(name))
      return { ...page, data: page.data.map(toSkillHit) }
    }

    const place = `skills:${sort}`
    const after = readCursor(place, cursor, CURSORS[sort])
    const asked = { ...wanted, ...(after !== undefined && { after }), limit: limit + 1 }
    let found: (SkillSummary | SkillHit)[]
    if (q !== undefined) found = await skills.search({ ...asked, phrases: queryPhrases(q), sort })
    else if (sort !== 'relevance') found = await skills.list({ ...asked, sort })
    else throw new AppError('query_invalid', 'sort=relevance needs a query: give q too.')

    const page = toPage(place, found, limit, ({ name, revision }) => {
      if (sort === 'relevance') return placeOf(found.slice(0, limit), after)
      return sort === 'name' ? name : `${revision}`
    })
    return { ...page, data: page.data.map(toSkillHit) }
  })

  app.get('/skills/:name', { schema: get, config }, async (request, reply) => {
    const { name } = request.params
    reply.header('vary', 'accept')
    if (prefersMarkdown(request.headers.accept)) {
      const file = await skills.readFile(name, 'SKILL.md')
      if (!file) throw await registry.notFound(name)
      reply.header('etag', quote(file.digest)).type('text/markdown; charset=utf-8')
      return reply.send(Buffer.from(file.bytes))
    }
    const skill = await skills.find(name)
    if (!skill) throw await registry.notFound(name)
    return reply.header('etag', quote(skillTag(skill))).send(toSkillResource(skill))
  })
}

/** Whether Markdown is asked for by name, and JSON is not. */
const prefersMarkdown = (accept = ''): boolean =>
  /\btext\/markdown\b/.test(accept) && !/\bapplication\/json\b/.test(accept)
