import { type Static, Type } from 'typebox'
import { isOwnSetting } from '../agent/http-tools/secrets.ts'
import { type Endpoint, isSameServer, type McpServer } from '../agent/mcp/mcp-server.ts'
import type { McpServerStatus } from '../agent/mcp/open-mcp-tools.ts'
import { isWellReferenced, referencesIn } from '../agent/mcp/references.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { Strict } from '../schema.ts'
import type { Defined } from '../store/definitions.ts'

const NAME = /^[a-z0-9-]{1,64}$/
const HASH = '^sha256:[0-9a-f]{64}$'
/** What stands for a value that is not shown; written back, it keeps the value. */
const MASK = '***'
const SECRET_NAME = /authorization|cookie|token|secret|key|passw|credential/i
const SECRET_PARAMETER = /(token|secret|passw\w*|credential|key)$/i
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/
/** They are the connection's or the protocol's. */
const FORBIDDEN_HEADER =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|upgrade|te|trailer|expect|accept|last-event-id|mcp-.*|proxy-.*)$/i
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

const Values = Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
  maxProperties: 64,
  description: `Secrets only as {{env.NAME}}; what holds no reference is shown as "${MASK}"`,
})
const members = {
  url: Type.Optional(
    Type.String({ maxLength: 2048, description: 'Of a server that speaks streamable HTTP' }),
  ),
  headers: Type.Optional(Values),
  command: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'A server to run, with MCP_COMMANDS=true',
    }),
  ),
  args: Type.Optional(Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 128 })),
  env: Type.Optional(Values),
}
const Accepted = Type.Union([Type.String({ pattern: HASH }), Type.Null()], {
  description: 'The tools_hash of the tools that may be used; by default those seen first',
})

export type McpServerBody = Static<typeof McpServerBody>
export const McpServerBody = Strict({
  ...members,
  approval: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether each call has to be approved' }),
  ),
  accepted_tools: Type.Optional(Accepted),
})

export const McpServerResource = Type.Object({
  name: Type.String(),
  ...members,
  approval: Type.Boolean(),
  status: Type.Enum(['connected', 'connecting', 'failed', 'changed'], {
    description: 'changed: it lists other tools than the accepted ones, and none may be used',
  }),
  error: Type.Union([Type.String(), Type.Null()]),
  tools: Type.Array(Type.String(), { description: 'As the model calls them' }),
  left_out: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() }), {
    description: 'Tools that cannot be used',
  }),
  tools_hash: Type.Union([Type.String(), Type.Null()], { description: 'Of what it lists now' }),
  accepted_tools: Accepted,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

export interface McpServerRules {
  /** Whether servers may be run as commands. */
  commands: boolean
  /** What forbids requests to a URL: a sentence, or undefined. */
  checkUrl(url: string): string | undefined
}

/** Throws what keeps it from being stored. `before` is what is there. */
export function readMcpServer(
  name: string,
  body: McpServerBody,
  before: McpServer | undefined,
  rules: McpServerRules,
): McpServer {
  if (!NAME.test(name)) {
    const rule = 'The name of an MCP server has 1 to 64 small letters, digits and hyphens.'
    throw new AppError('name_invalid', rule)
  }
  const endpoint = readEndpoint(body, before?.endpoint, rules)
  const known = before && isSameServer(before.endpoint, endpoint) ? before.accepted : null
  return {
    endpoint,
    approval: body.approval ?? false,
    accepted: body.accepted_tools ?? known,
  }
}

function readEndpoint(
  { url, headers, command, args, env }: McpServerBody,
  before: Endpoint | undefined,
  { commands, checkUrl }: McpServerRules,
): Endpoint {
  if (url !== undefined) {
    refuseBeside('url', { command, args, env })
    const fault = checkUrl(url)
    if (fault !== undefined) throw refuse('url_forbidden', '/url', fault)
    for (const parameter of new URL(url).searchParams.keys()) {
      if (SECRET_PARAMETER.test(parameter)) throw refuse('secret_forbidden', '/url', IN_A_URL)
    }
    const known = before && 'url' in before ? before.headers : {}
    return { url, headers: readValues('headers', headers, known, isHeaderName) }
  }
  if (command === undefined) throw refuse('body_invalid', '/url', 'It needs a url or a command.')
  refuseBeside('command', { headers })
  if (!commands) {
    const what = 'This service does not run commands: set MCP_COMMANDS=true, or give a url.'
    throw refuse('mcp_commands_off', '/command', what)
  }
  if ([command, ...(args ?? [])].some((text) => text.includes('\0'))) {
    throw refuse('body_invalid', '/command', 'The command must not hold a NUL character.')
  }
  const known = before && 'command' in before ? before.env : {}
  const isVariableName = (name: string) => VARIABLE_NAME.test(name)
  return { command, args: args ?? [], env: readValues('env', env, known, isVariableName) }
}

const IN_A_URL = 'A secret must not stand in the URL: send it in a header, as {{env.NAME}}.'

const isHeaderName = (name: string): boolean =>
  HEADER_NAME.test(name) && !FORBIDDEN_HEADER.test(name)

function refuseBeside(what: string, others: Record<string, unknown>): void {
  const other = Object.keys(others).find((name) => others[name] !== undefined)
  if (other === undefined) return
  throw refuse('body_invalid', `/${other}`, `"${other}" does not go with "${what}".`)
}

function readValues(
  member: 'headers' | 'env',
  values: Record<string, string> = {},
  known: Record<string, string>,
  isName: (name: string) => boolean,
): Record<string, string> {
  const read = Object.entries(values).map(([name, value]) => {
    const field = `/${member}/${name.slice(0, 128)}`
    if (!isName(name)) throw refuse('body_invalid', field, `"${field}" cannot be set.`)
    if (value === MASK && Object.hasOwn(known, name)) return [name, known[name]]
    checkValue(field, name, value)
    return [name, value]
  })
  return Object.fromEntries(read)
}

function checkValue(field: string, name: string, value: string): void {
  if (!/^[\t\x20-\x7e]*$/.test(value)) {
    throw refuse('body_invalid', field, `"${field}" holds characters that cannot be sent.`)
  }
  if (value === MASK) {
    throw refuse('body_invalid', field, `"${field}" is not set yet: "${MASK}" keeps nothing.`)
  }
  if (!isWellReferenced(value)) {
    throw refuse('body_invalid', field, `"${field}" may hold {{env.NAME}}, and no other template.`)
  }
  const references = referencesIn(value)
  const own = references.find(isOwnSetting)
  if (own !== undefined) {
    const what = `${own} is a setting of the service itself, which no MCP server may be given.`
    throw refuse('secret_forbidden', field, what)
  }
  if (references.length === 0 && value !== '' && SECRET_NAME.test(name)) {
    const what = `"${field}" looks like a secret: put it in the environment, and write {{env.NAME}}.`
    throw refuse('secret_forbidden', field, what)
  }
}

const refuse = (code: ErrorCode, field: string, message: string) =>
  new AppError(code, message, { errors: [{ code, message, field }] })

/** Without any value that might be a secret. */
export function toMcpServerResource(
  { name, definition, createdAt, updatedAt }: Defined<McpServer>,
  status: McpServerStatus,
): Static<typeof McpServerResource> {
  const { endpoint, approval, accepted } = definition
  return {
    name,
    ...('url' in endpoint
      ? { ...endpoint, headers: masked(endpoint.headers) }
      : { ...endpoint, env: masked(endpoint.env) }),
    approval,
    status: status.status,
    error: status.error,
    tools: status.tools,
    left_out: status.leftOut,
    tools_hash: status.toolsHash,
    accepted_tools: accepted,
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

const masked = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      referencesIn(value).length > 0 ? value : MASK,
    ]),
  )
