import { type Static, Type } from 'typebox'

/** Every failure a caller can cause: its status and its fixed title. Anything else is a bug. */
export const catalogue = {
  body_invalid: [400, 'The request body is not valid'],
  query_invalid: [400, 'The query is not valid'],
  cursor_invalid: [400, 'The cursor is not valid'],
  header_invalid: [400, 'A request header is not valid'],
  request_invalid: [400, 'The request is not valid'],
  unsupported_content: [400, 'A part of a message is not supported'],
  unsupported_parameter: [400, 'A parameter is not supported'],
  last_version: [400, 'The version is the last one of its skill'],
  default_version: [400, 'The version is the default one'],
  skill_not_empty: [400, 'The skill has versions'],
  tool_name_conflict: [400, 'A tool name is taken'],
  unauthenticated: [401, 'No valid key was sent'],
  insufficient_scope: [403, 'The key lacks a scope'],
  origin_forbidden: [403, 'The request comes from a place that is not allowed'],
  route_not_found: [404, 'No such route'],
  skill_not_found: [404, 'Skill not found'],
  version_not_found: [404, 'Version not found'],
  file_not_found: [404, 'File not found'],
  agent_not_found: [404, 'Agent not found'],
  model_not_found: [404, 'Model not found'],
  tool_not_found: [404, 'Tool not found'],
  mcp_server_not_found: [404, 'MCP server not found'],
  conversation_not_found: [404, 'Conversation not found'],
  turn_not_found: [404, 'Turn not found'],
  tool_result_not_found: [404, 'Tool result not found'],
  method_not_allowed: [405, 'The method is not allowed here'],
  skill_exists: [409, 'A skill of that name exists'],
  version_current: [409, 'The version is the current one'],
  turn_in_progress: [409, 'A turn is running in this conversation'],
  idempotency_in_flight: [409, 'A request with this idempotency key is running'],
  version_conflict: [412, 'The resource is not in the expected state'],
  body_too_large: [413, 'The request body is too large'],
  skill_too_large: [413, 'The SKILL.md is too large'],
  archive_too_large: [413, 'The bundle is too large'],
  media_type: [415, 'The media type is not supported'],

  frontmatter_missing: [422, 'The frontmatter is missing'],
  frontmatter_not_first: [422, 'The frontmatter does not begin on the first line'],
  frontmatter_unterminated: [422, 'The frontmatter is never closed'],
  frontmatter_language: [422, 'The frontmatter is not YAML by its first line'],
  frontmatter_too_large: [422, 'The frontmatter is too large'],
  frontmatter_yaml: [422, 'The frontmatter is not valid YAML'],
  frontmatter_not_mapping: [422, 'The frontmatter is not a mapping'],
  frontmatter_alias: [422, 'The frontmatter uses an anchor or alias'],
  frontmatter_duplicate_key: [422, 'The frontmatter repeats a key'],
  name_missing: [422, 'The name is missing'],
  name_not_string: [422, 'The name is not text'],
  name_invalid: [422, 'The name is not valid'],
  name_reserved: [422, 'The name is reserved'],
  name_mismatch: [422, 'The name is not the one asked for'],
  name_conflict: [422, 'Two skills have one name'],
  description_missing: [422, 'The description is missing'],
  description_not_string: [422, 'The description is not text'],
  description_too_long: [422, 'The description is too long'],
  allowed_tools_item: [422, 'An entry of allowed-tools is not text'],
  allowed_tools_syntax: [422, 'allowed-tools has an unbalanced parenthesis'],
  tags_item: [422, 'An entry of tags is not text'],
  compatibility_too_long: [422, 'The compatibility is too long'],
  metadata_not_mapping: [422, 'The metadata is not a mapping'],
  encoding_not_utf8: [422, 'The file is not UTF-8'],
  nul_byte: [422, 'The file holds a NUL character'],
  lone_surrogate: [422, 'The text holds half of a character'],
  archive_path: [422, 'A path in the bundle is not allowed'],
  archive_link: [422, 'The bundle holds a link or a special file'],
  archive_duplicate: [422, 'Two files of the bundle have one name'],
  archive_corrupt: [422, 'The archive is damaged'],
  archive_encrypted: [422, 'The archive is encrypted'],
  archive_no_skill: [422, 'The bundle holds no SKILL.md'],
  archive_many_skills: [422, 'The bundle holds several skills'],

  idempotency_mismatch: [422, 'The idempotency key was used for another request'],
  tool_name_taken: [422, 'A tool name is taken'],
  tool_schema_invalid: [422, 'The schema of a tool is not valid'],
  url_forbidden: [422, 'The URL is not allowed'],
  secret_forbidden: [422, 'The secret may not be used'],
  mcp_commands_off: [422, 'MCP servers are not run as commands here'],
  model_invalid: [422, 'The model cannot be used'],
  call_not_pending: [422, 'No such call is waiting for a result'],
  nothing_to_continue: [422, 'No turn is there to go on with'],
  internal: [500, 'Internal error'],
  model_error: [502, 'The model failed'],
  model_unavailable: [503, 'The model is not available'],
  storage_busy: [503, 'The storage is busy'],
  storage_full: [503, 'The storage is full'],
  storage_failed: [503, 'The storage failed'],
  overloaded: [503, 'The service is overloaded'],
  shutting_down: [503, 'The service is shutting down'],
  model_timeout: [504, 'The model took too long'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ErrorCode = keyof typeof catalogue

/**
 * One thing found wrong, and where. `line` and `column` count from 1 in the whole file, `offset`
 * is a byte offset from 0; `field` is the key as it stands in the file, or a JSON pointer.
 */
export type Fault = Static<typeof Fault>
export const Fault = Type.Object({
  code: Type.String(),
  message: Type.String(),
  file: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  offset: Type.Optional(Type.Integer()),
})

interface Members {
  suggestions?: string[]
  conversation_id?: string
  turn_id?: string
}

interface Circumstances {
  /** Every fault found, the first of which has the error's own code. */
  errors?: Fault[]
  cause?: unknown
  /** More members of the problem (RFC 9457, 3.2), as the nearest names to one that is not there. */
  members?: Members
  /** After how many seconds trying again may help. */
  retryAfter?: number
  /** Only where one code has two statuses (frontmatter_too_large is 413 for bytes). */
  status?: number
}

/** A failure to tell the caller: `code` decides status and title, `message` is about this case. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly status: number
  readonly errors: Fault[] | undefined
  readonly members: Members | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, detail: string, circumstances: Circumstances = {}) {
    super(detail, { cause: circumstances.cause })
    this.code = code
    this.status = circumstances.status ?? catalogue[code][0]
    this.errors = circumstances.errors
    this.members = circumstances.members
    this.retryAfter = circumstances.retryAfter
  }

  /** The same failure, with more to tell. */
  about(members: Members): AppError {
    const { code, message, errors, retryAfter, status, cause } = this
    const all = { ...this.members, ...members }
    return new AppError(code, message, {
      status,
      cause,
      members: all,
      ...(errors && { errors }),
      ...(retryAfter !== undefined && { retryAfter }),
    })
  }
}
