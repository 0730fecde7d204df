import type { Problem } from '../http/problem.ts'

/** A failure as OpenAI's clients read it. */
export function toOpenaiFailure(problem: Problem) {
  return {
    error: {
      message: messageOf(problem),
      type: OPENAI_TYPES[problem.status] ?? typeOf(problem, 'server_error'),
      param: paramOf(problem.errors?.[0]?.field),
      code: OPENAI_CODES[problem.code] ?? codeOf(problem),
    },
  }
}

/** A failure as Anthropic's clients read it. */
export function toAnthropicFailure(problem: Problem) {
  return {
    type: 'error',
    error: {
      type: ANTHROPIC_TYPES[problem.status] ?? typeOf(problem, 'api_error'),
      message: messageOf(problem),
      details: { error_code: codeOf(problem) },
    },
    request_id: problem.request_id,
  }
}

const OPENAI_TYPES: Record<number, string> = { 429: 'rate_limit_error' }
const OPENAI_CODES: Record<string, string> = { unauthenticated: 'invalid_api_key' }
const ANTHROPIC_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

const typeOf = ({ status }: Problem, ofServer: string): string =>
  status >= 500 ? ofServer : 'invalid_request_error'

function codeOf({ status, code }: Problem): string {
  if (status === 429) return 'rate_limit_exceeded'
  return status === 404 && code !== 'model_not_found' ? 'not_found' : code
}

const messageOf = ({ detail = 'Internal error', errors = [] }: Problem): string =>
  errors.length > 1 ? errors.map(({ message }) => message).join('\n') : detail

/** A JSON pointer as these clients name fields: `messages[0].content`. */
function paramOf(pointer = ''): string | null {
  if (pointer !== '' && !pointer.startsWith('/')) return pointer
  const keys = pointer.split('/').slice(1)
  const path = keys.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('')
  return path === '' ? null : path.replace(/^\./, '')
}
