import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { renderCatalog } from '../domain/catalog.ts'
import { problemResponses } from '../http/problem.ts'
import { type Finders, rankOffered } from '../registry/rank-offered.ts'
import type { Registry } from '../registry/registry.ts'
import { Strict } from '../schema.ts'

const Names = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })], { description })
const CatalogResource = Type.Object({
  revision: Type.Integer(),
  tokens: Type.Integer({ description: 'Of the text, by the estimate of the service' }),
  offered: Type.Array(
    Type.Object({
      name: Type.String(),
      version: Type.Integer(),
      digest: Type.String(),
      shown: Type.Enum(['full', 'short', 'name']),
    }),
  ),
  omitted: Type.Array(Type.String(), { description: 'Names for which there was no room' }),
  text: Type.String(),
})

const get = {
  operationId: 'getCatalog',
  summary: 'The catalog as models are shown it',
  tags: ['catalog'],
  querystring: Strict({
    format: Type.Optional(
      Type.Enum(['list', 'xml', 'json'], {
        default: 'list',
        description: 'A line each, the block of Agent Skills, or what is in it',
      }),
    ),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200_000,
        description: 'A ceiling, above which descriptions are cut, then left out, then names',
      }),
    ),
    q: Type.Optional(
      Type.String({
        description: 'What it is wanted for: over the ceiling the best matches keep their lines',
      }),
    ),
    tags: Type.Optional(Type.Boolean({ default: false, description: 'Tags behind descriptions' })),
    tag: Type.Optional(Names('Skills that have it; of several, all')),
    name: Type.Optional(Names('These skills alone')),
  }),
  response: {
    200: {
      description: 'Its text, or what is in it',
      headers: {
        'x-catalog-revision': Type.Integer({ description: 'Rises with every write to a skill' }),
        'x-catalog-tokens': Type.Integer({ description: 'Of the text' }),
      },
      content: {
        'text/plain': { schema: Type.String() },
        'application/json': { schema: CatalogResource },
      },
    },
    ...problemResponses,
  },
}

interface Options extends Finders {
  registry: Pick<Registry, 'snapshot'>
}

export const catalogRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { registry } = options
  const config = { scope: 'skills:read' } as const

  app.get('/catalog', { schema: get, config }, async ({ query }, reply) => {
    const { format = 'list', max_tokens: maxTokens = null, tags = false, q, tag, name } = query
    const filter = { names: listed(name), tags: listed(tag) }
    const { revision, entries } = (await registry.snapshot()).narrow(filter)
    const layout = format === 'xml' ? 'xml' : 'list'
    const ranking =
      q === undefined || maxTokens === null ? [] : await rankOffered(options, q, filter)
    const catalog = renderCatalog(entries, { format: layout, tags, maxTokens, ranking })
    reply.headers({ 'x-catalog-revision': revision, 'x-catalog-tokens': catalog.tokens })
    const { tokens, offered, omitted, text } = catalog
    if (format === 'json') return reply.send({ revision, tokens, offered, omitted, text })
    return reply.type('text/plain; charset=utf-8').send(text)
  })
}

const listed = (value: string | string[] | undefined): string[] | null =>
  value === undefined ? null : [value].flat()
