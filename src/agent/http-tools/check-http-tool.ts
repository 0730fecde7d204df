import { SKILL_TOOLS } from '../../domain/tool-permissions.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { checkSchema } from '../input-schema.ts'
import { isToolName } from '../sendable.ts'
import type { HttpTool } from './http-tool.ts'
import { isOwnSetting } from './secrets.ts'
import { type Part, parseTemplate } from './template.ts'

const WORKSPACE_TOOLS = ['bash', 'read_file', 'write_file', 'edit_file', 'glob']
const TAKEN = new Set([...SKILL_TOOLS, ...WORKSPACE_TOOLS])
/** Every step of every turn reads all tools. */
const MAX_CHARACTERS = 256 * 1024
/** They are the connection's, or say what the rest of the request says already. */
const FORBIDDEN_HEADER =
  /^(host|connection|keep-alive|content-length|transfer-encoding|upgrade|te|trailer|expect|proxy-.*)$/i
const AUTHORITY_BEFORE = /^https?:\/\/[^/?#{}]+[/?#]/i

/** Throws what keeps a tool from being stored: an AppError that names the member. */
export function checkHttpTool(
  name: string,
  tool: HttpTool,
  checkUrl: (url: string) => string | undefined,
): void {
  checkName(name)
  const size = JSON.stringify(tool).length
  if (size > MAX_CHARACTERS) {
    const sizes = `${size} characters, of ${MAX_CHARACTERS} allowed`
    throw new AppError('body_too_large', `The tool has ${sizes}.`)
  }
  checkSchema(name, tool.inputSchema)
  const { method, url, headers, body } = tool.request
  checkTemplatedUrl(url, checkUrl)
  for (const [header, value] of Object.entries(headers)) {
    const field = `/request/headers/${header}`
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || FORBIDDEN_HEADER.test(header)) {
      throw refuse('body_invalid', field, `The header "${header.slice(0, 60)}" cannot be set.`)
    }
    checkTemplates(value, field)
  }
  if (body !== null && method === 'GET') {
    throw refuse('body_invalid', '/request/body', 'A GET request has no body.')
  }
  checkBody(body, '/request/body')
}

function checkName(name: string): void {
  if (TAKEN.has(name) || name.startsWith('mcp__') || name in {}) {
    throw new AppError('tool_name_taken', `The tool name "${name.slice(0, 128)}" is reserved.`)
  }
  if (!isToolName(name)) {
    const rule = 'A tool name has 1 to 128 letters, digits, "_" and "-", all of them ASCII.'
    throw new AppError('name_invalid', rule)
  }
}

function checkTemplatedUrl(url: string, checkUrl: (url: string) => string | undefined): void {
  const field = '/request/url'
  const parts = checkTemplates(url, field)
  const templated = parts.some((part) => typeof part !== 'string')
  if (/[\s\p{Cc}\\]/u.test(url)) {
    throw refuse('url_forbidden', field, 'The URL must not hold blanks or backslashes.')
  }
  if (templated && !AUTHORITY_BEFORE.test(url)) {
    const what = 'A template may stand in the path and the query, not in the scheme, host or port.'
    throw refuse('url_forbidden', field, what)
  }
  const [path = ''] = url.split(/[?#]/, 1)
  if (parseTemplate(path).some((part) => typeof part !== 'string' && 'env' in part)) {
    throw refuse('url_forbidden', field, 'A secret may stand in the query, not in the path.')
  }
  const fault = checkUrl(parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''))
  if (fault !== undefined) throw refuse('url_forbidden', field, fault)
}

function checkBody(value: unknown, field: string): void {
  if (typeof value === 'string') checkTemplates(value, field)
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) checkBody(member, `${field}/${key}`)
}

function checkTemplates(text: string, field: string): Part[] {
  const parts = parseTemplate(text)
  for (const part of parts) {
    if (typeof part !== 'string' && 'env' in part && isOwnSetting(part.env)) {
      const what = `${part.env} is a setting of the service itself, which no tool may send.`
      throw refuse('secret_forbidden', field, what)
    }
  }
  return parts
}

const refuse = (code: ErrorCode, field: string, message: string) =>
  new AppError(code, message, { errors: [{ code, message, field }] })
