import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { type Problem, toProblem } from '../../http/problem.ts'

/** A failure as OpenAI's clients read it. */
export function toFailure(problem: Problem) {
  const { status, detail = 'Internal error', errors } = problem
  return {
    error: {
      message:
        errors && errors.length > 1 ? errors.map(({ message }) => message).join('\n') : detail,
      type: status >= 500 ? 'server_error' : 'invalid_request_error',
      param: paramOf(errors?.[0]?.field),
      code: codeOf(problem),
    },
  }
}

/** What the wire calls otherwise than we do (contracts.md 0). */
function codeOf({ status, code }: Problem): string {
  if (code === 'unauthenticated') return 'invalid_api_key'
  return status === 404 && code !== 'model_not_found' ? 'not_found' : code
}

export function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = toProblem(error, request)
  const { status, code } = problem
  if (status >= 500 && !reply.raw.destroyed) request.log.error({ err: error }, 'request failed')
  if (error instanceof AppError && error.retryAfter !== undefined) {
    reply.header('retry-after', Math.max(1, Math.ceil(error.retryAfter)))
  }
  if (status === 409 && code !== 'idempotency_in_flight') reply.header('x-should-retry', 'false')
  reply.header('request-id', request.id)
  return reply
    .code(status === 422 ? 400 : status)
    .type('application/json')
    .send(toFailure(problem))
}

/** A JSON pointer as these clients name fields: `messages[0].content`. */
function paramOf(pointer = ''): string | null {
  const keys = pointer.split('/').slice(1)
  const path = keys.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('')
  return path === '' ? null : path.replace(/^\./, '')
}
