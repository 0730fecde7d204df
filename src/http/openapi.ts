import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import { etagHeader } from './etag.ts'
import { Problem } from './problem.ts'

/** Describes the routes registered after it, at `/openapi.yaml`, `/openapi.json` and `/docs`. */
export const openapi = fp(async (app) => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'loadskill',
        version: '1',
        description:
          'Versioned skills for AI agents: stored once, offered by the line, loaded on demand, with a receipt for every turn.',
        license: { name: 'MIT' },
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        },
      },
      security: [{ bearer: [] }, { apiKey: [] }],
      tags: [
        { name: 'skills', description: 'Skills, their versions and files' },
        { name: 'catalog', description: 'What models are shown' },
        { name: 'chat', description: 'The agent loop, and what is kept of it' },
        { name: 'agents', description: 'Set-ups that conversations run with' },
        { name: 'tools', description: 'HTTP tools, and the tools of MCP servers' },
        { name: 'operations', description: 'Health and readiness' },
      ],
    },
    transform: describeRoute,
    transformObject: shareProblems,
  })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })

  const schema = { hide: true }
  app.get('/openapi.yaml', { schema }, async (_, reply) =>
    reply.type('application/yaml').send(app.swagger({ yaml: true })),
  )
  app.get('/openapi.json', { schema }, async () => app.swagger())
})

type Describe = Required<FastifyDynamicSwaggerOptions>

/** Adds what holds for every route, and no route says of itself. */
const describeRoute: Describe['transform'] = ({ schema, url, route }) => {
  const { params, headers, response = {}, summary = '', tags = [] } = schema
  const read = route.method === 'GET'
  const sent = {
    ...(Type.IsObject(headers) && headers.properties),
    ...(read && { 'if-none-match': IfNoneMatch }),
  }
  const described = {
    ...schema,
    // Copied, for YAML would refer from one shared list to the other.
    tags: [...tags],
    headers: Type.Object(sent),
    ...(Type.IsObject(params) && { params: withNamedWildcard(params.properties) }),
    response: describeResponses(response as Responses, summary, read),
    ...(route.config?.scope === undefined && { security: [] }),
  }
  return { schema: described, url: url.replace(/\*$/, ':path') }
}

const IfNoneMatch = Type.Optional(
  Type.String({ description: 'Entity tags that are known: 304 when one of them still holds' }),
)

const withNamedWildcard = ({ '*': path, ...others }: Record<string, object>) =>
  Type.Object({ ...others, ...(path && { path }) })

type Responses = Record<string, { type?: string; description?: string; headers?: object }>

const NotModified: Responses = {
  304: { type: 'null', description: 'If-None-Match names what is there' },
}

function describeResponses(responses: Responses, summary: string, read: boolean): Responses {
  const id = { 'x-request-id': Type.String({ description: 'On each log line of the request' }) }
  const all = Object.entries({ ...(read && NotModified), ...responses })
  const described = all.map(([status, response]) => {
    const tag = read && status < '400' ? etagHeader : {}
    const headers = { ...id, ...tag, ...response.headers }
    return [status, { description: summary, ...response, headers }]
  })
  return Object.fromEntries(described)
}

const SHARED = { '4XX': 'CallerProblem', '5XX': 'ServiceProblem' }

/** Problems are the same everywhere: they stand once, and are referred to. */
const shareProblems: Describe['transformObject'] = (document) => {
  if (!('openapiObject' in document)) return document.swaggerObject
  const { paths = {}, components = {} } = document.openapiObject
  components.schemas = { ...components.schemas, Problem }
  components.responses ??= {}
  for (const path of Object.values(paths)) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      const responses = path?.[method]?.responses ?? {}
      for (const [status, name] of Object.entries(SHARED)) {
        const response = responses[status]
        if (!response) continue
        components.responses[name] = { ...response, content: problemContent() }
        responses[status] = { $ref: `#/components/responses/${name}` }
      }
    }
  }
  return document.openapiObject
}

const problemContent = () => ({
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
})
