import { APICallError } from '@ai-sdk/provider'
import { AppError } from '../../errors.ts'

/** What may be told and logged of a failed try: nothing that the provider wrote, no address, no key. */
export interface Failure {
  name: string
  /** The HTTP status, also of an error that came within a stream. */
  status: number | undefined
  /** Node's or undici's word for a broken connection. */
  code: string | undefined
  /** How long the provider asks to wait. */
  retryAfterMs: number | undefined
  /** Whether the provider says that what it was sent is more than its model takes. */
  tooLong: boolean
}

class PromptTooLong extends Error {
  override readonly name = 'PromptTooLong'
}

/** Whether a model refused what it was sent for its length: something shorter may be answered. */
export const isTooLong = (error: unknown): boolean =>
  causes(error).some((cause) => cause instanceof PromptTooLong)

/** A provider that asks for more is as good as gone. */
export const LONGEST_WAIT_MS = 60_000

const TIMEOUT_CODES = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT']
const TIMEOUT_STATUS = [408, 504]
const UNAVAILABLE_STATUS = [429, 503, 529]
const DEFAULT_RETRY_AFTER_SECONDS = 10
const MAX_RETRY_AFTER_SECONDS = 3600

export function readFailure(error: unknown): Failure {
  const headers = APICallError.isInstance(error) ? error.responseHeaders : undefined
  const status = statusOf(error)
  const tooLong = saysTooLong(error, status)
  return {
    name: error instanceof Error ? error.name : 'Error',
    // An error within a stream has no status, and sending the same again is of no use.
    status: status ?? (tooLong ? 400 : undefined),
    code: causes(error).map(codeOf).find(Boolean),
    retryAfterMs: headers && readRetryAfter(headers),
    tooLong,
  }
}

/** Some failures are named where they are found, and then wrapped by the layers above. */
export const namedFailure = (error: unknown): AppError | undefined =>
  causes(error).find((cause) => cause instanceof AppError)

export function toAppError({ name, status, code, retryAfterMs, tooLong }: Failure): AppError {
  const what = [name, status, code].filter(Boolean).join(' ')
  if (tooLong)
    return new AppError('model_error', 'The conversation is too long for the model.', {
      cause: new PromptTooLong(what),
    })
  const cause = new Error(what)
  const seconds =
    retryAfterMs === undefined ? DEFAULT_RETRY_AFTER_SECONDS : Math.ceil(retryAfterMs / 1000)
  const retryAfter = Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS)
  const answered = `The model's provider answered with status ${status}.`

  if (status === undefined && code !== undefined && TIMEOUT_CODES.includes(code))
    return new AppError('model_timeout', "The model's provider took too long to connect.", {
      cause,
    })
  if (status === undefined && isConnection(code))
    return new AppError('model_unavailable', "The model's provider cannot be reached.", {
      cause,
      retryAfter,
    })
  if (status === undefined || status < 400)
    return new AppError('model_error', "The model's answer broke off or made no sense.", { cause })
  if (TIMEOUT_STATUS.includes(status)) return new AppError('model_timeout', answered, { cause })
  const awayForLong = status >= 500 && (retryAfterMs ?? 0) > LONGEST_WAIT_MS
  if (UNAVAILABLE_STATUS.includes(status) || awayForLong)
    return new AppError('model_unavailable', answered, { cause, retryAfter })
  return new AppError('model_error', answered, { cause })
}

export const tooSlow = (what: string, milliseconds: number) =>
  new AppError('model_timeout', `The model ${what} ${milliseconds} ms.`)

export const tooLarge = (maxBytes: number) =>
  new AppError('model_error', `The model's answer is larger than ${maxBytes} bytes.`)

const isConnection = (code = '') => /^(E(?!RR_)[A-Z_]+|UND_ERR_SOCKET)$/.test(code)

function causes(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let next = error; next instanceof Error && chain.length < 8; next = next.cause)
    chain.push(next)
  return chain
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && /^[A-Z_]+$/.test(String(error.code))
    ? String(error.code)
    : undefined

/** Errors within a stream are plain objects; OpenRouter and others put the status in `code`. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Object)) return undefined
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  const code = 'code' in error ? Number(error.code) : Number.NaN
  return code >= 400 && code < 600 ? code : undefined
}

const TOO_LONG_STATUS = 413
const MAY_BE_TOO_LONG_STATUS = [undefined, 400, 413, 422]
/** Anthropic, OpenAI and those that speak as it does (vLLM, llama.cpp, Ollama, Gemini). */
const TOO_LONG =
  /prompt is too long|request_too_large|context_length_exceeded|exceed_context_size|maximum context length|exceeds? (?:the )?(?:available |model's )?(?:maximum )?context (?:limit|length|size|window)|exceeds the maximum number of tokens/i
const LONGEST_READ = 10_000

function saysTooLong(error: unknown, status: number | undefined): boolean {
  if (status === TOO_LONG_STATUS) return true
  if (!(error instanceof Object) || !MAY_BE_TOO_LONG_STATUS.includes(status)) return false
  const said = ['message', 'code', 'type', 'responseBody'].map((key) => Reflect.get(error, key))
  return TOO_LONG.test(said.join('\n').slice(0, LONGEST_READ))
}

function readRetryAfter(headers: Record<string, string>): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (milliseconds >= 0) return milliseconds
  const value = headers['retry-after'] ?? ''
  const asked = /^[\d.]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return asked >= 0 ? asked : undefined
}
