import { type Static, Type } from 'typebox'
import { type HttpTool, METHODS } from '../agent/http-tools/http-tool.ts'
import type { ToolDefinition } from '../agent/tool.ts'
import { Strict } from '../schema.ts'
import type { Defined } from '../store/definitions.ts'

const SOURCES = ['http', 'mcp', 'workspace'] as const
const DEFAULT_TIMEOUT_MS = 30_000

export type ToolSummary = Static<typeof ToolSummary>
export const ToolSummary = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: Type.Object({}, { description: 'A JSON Schema of an object' }),
  source: Type.Enum([...SOURCES], { description: 'Where it comes from' }),
})

const Template = Type.String({ maxLength: 100_000 })
const members = {
  method: Type.Enum([...METHODS]),
  url: Type.String({
    maxLength: 8192,
    description: 'http(s); {{input.x}} in the path and the query, {{env.NAME}} in the query',
  }),
  headers: Type.Record(Type.String(), Template, {
    maxProperties: 64,
    description: 'Values may hold templates',
  }),
  body: Type.Unknown({
    description: 'Text or JSON; a string that is one {{input.x}} becomes the value as it is',
  }),
}
const settings = {
  timeout_ms: Type.Integer({
    minimum: 1,
    maximum: 300_000,
    default: DEFAULT_TIMEOUT_MS,
    description: 'For the whole answer',
  }),
  approval: Type.Boolean({ default: false, description: 'Whether each call has to be approved' }),
  idempotent: Type.Boolean({
    description: 'Whether a second request does no harm; by default whether it is a GET',
  }),
}

const EXAMPLE = {
  description: 'Looks up an order by its number.',
  input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  request: {
    method: 'GET',
    url: 'https://shop.example/orders/{{input.id}}',
    headers: { authorization: 'Bearer {{env.SHOP_TOKEN}}' },
  },
}

export type ToolBody = Static<typeof ToolBody>
export const ToolBody = Type.Object(
  {
    description: Type.String({ pattern: '\\S', maxLength: 10_000 }),
    input_schema: ToolSummary.properties.input_schema,
    request: Strict({
      method: members.method,
      url: members.url,
      headers: Type.Optional(members.headers),
      body: Type.Optional(members.body),
    }),
    timeout_ms: Type.Optional(settings.timeout_ms),
    approval: Type.Optional(settings.approval),
    idempotent: Type.Optional(settings.idempotent),
  },
  { additionalProperties: false, examples: [EXAMPLE] },
)

export const ToolResource = Type.Object({
  ...ToolSummary.properties,
  request: Type.Object(members),
  ...settings,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

export function readTool({ request, ...body }: ToolBody): HttpTool {
  const { method, url, headers = {}, body: content = null } = request
  return {
    description: body.description,
    inputSchema: body.input_schema,
    request: { method, url, headers, body: content },
    timeoutMs: body.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    approval: body.approval ?? false,
    idempotent: body.idempotent ?? method === 'GET',
  }
}

export const toToolSummary = (
  { name, description, inputSchema }: ToolDefinition,
  source: ToolSummary['source'],
): ToolSummary => ({ name, description, input_schema: inputSchema, source })

export const toToolResource = ({
  name,
  definition,
  createdAt,
  updatedAt,
}: Defined<HttpTool>): Static<typeof ToolResource> => ({
  ...toToolSummary({ ...definition, name }, 'http'),
  request: definition.request,
  timeout_ms: definition.timeoutMs,
  approval: definition.approval,
  idempotent: definition.idempotent,
  created_at: createdAt,
  updated_at: updatedAt,
})
