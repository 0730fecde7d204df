import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Static, Type } from 'typebox'
import { AppError, catalogue, type ErrorCode, Fault } from '../errors.ts'

export type Problem = Static<typeof Problem>
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: 'That of the first error' }),
    detail: Type.Optional(Type.String()),
    errors: Type.Optional(Type.Array(Fault)),
    suggestions: Type.Optional(Type.Array(Type.String(), { description: 'The nearest names' })),
    conversation_id: Type.Optional(Type.String()),
    turn_id: Type.Optional(Type.String()),
    request_id: Type.String(),
  },
  {
    description: 'RFC 9457',
    examples: [
      {
        type: '/problems/skill_not_found',
        title: 'Skill not found',
        status: 404,
        code: 'skill_not_found',
        detail: 'No skill is named "code-revue".',
        suggestions: ['code-review'],
        request_id: 'req_6f1c2a8e-3d0b-4a55-9b0e-0c7f4a1d2e33',
      },
    ],
  },
)

/** What every route declares for its failures; the contract has their schema once. */
export const problemResponses = {
  '4xx': { description: 'What the caller did wrong', content: problemContent() },
  '5xx': { description: 'What went wrong here', content: problemContent() },
}

function problemContent() {
  // Fastify would compile the whole schema anew for each route, at every start.
  return { 'application/problem+json': { schema: Type.Unsafe<Problem>({}) } }
}

const FASTIFY_CODES: Record<string, [code: ErrorCode, detail: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['media_type', 'The content-type of the body is not taken here.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['body_invalid', 'The body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['body_invalid', 'The body is empty, and should be JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'request_invalid',
    'The body is shorter or longer than its content-length.',
  ],
  FST_ERR_BAD_URL: ['request_invalid', 'The path is not a valid URL path.'],
}

const CONTEXT_CODES: Record<string, ErrorCode> = {
  body: 'body_invalid',
  querystring: 'query_invalid',
}

/** Answers every failure as application/problem+json (RFC 9457). */
export const problems = fp(async (app) => {
  app.setErrorHandler<Error>((error, request, reply) => sendProblem(error, request, reply))
})

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = toProblem(error, request)
  if (problem.status >= 500 && !reply.raw.destroyed)
    request.log.error({ err: error }, 'request failed')
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply.code(problem.status).type('application/problem+json').send(problem)
}

/** The whole seconds after which the same may be asked again; undefined where none are told. */
export const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof AppError && error.retryAfter !== undefined
    ? Math.max(1, Math.ceil(error.retryAfter))
    : undefined

export function toProblem(
  error: unknown,
  request: Pick<FastifyRequest, 'id' | 'headers' | 'routeOptions'>,
): Problem {
  return describe(toAppError(error, request), request.id)
}

export const describe = (error: AppError, requestId: string): Problem => ({
  type: `/problems/${error.code}`,
  title: catalogue[error.code][1],
  status: error.status,
  code: error.code,
  ...(error.message && { detail: error.message }),
  ...(error.errors && { errors: error.errors }),
  ...error.members,
  request_id: requestId,
})

/** What Fastify refused, in our words. Anything unknown is a bug, of which nothing is told. */
function toAppError(
  error: unknown,
  { headers, routeOptions }: Pick<FastifyRequest, 'headers' | 'routeOptions'>,
): AppError {
  if (error instanceof AppError) return error
  const { code, statusCode, validation, validationContext } = error as FastifyError
  if (validation) {
    const kind = CONTEXT_CODES[validationContext ?? ''] ?? 'request_invalid'
    const errors = validation.map(({ instancePath, message = 'is not valid' }) => {
      const field = instancePath || '/'
      const shown = kind === 'body_invalid' ? field : `"${instancePath.slice(1)}"`
      return { code: kind, message: `${shown} ${message}.`, field }
    })
    return new AppError(kind, errors[0]?.message ?? 'It does not fit.', { errors })
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const size = headers['content-length'] ?? 'More than that was sent'
    const sizes = `The body has ${size} bytes, of ${routeOptions.bodyLimit} allowed.`
    return new AppError('body_too_large', sizes)
  }
  const known = FASTIFY_CODES[code]
  if (known) return new AppError(...known)
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new AppError('request_invalid', 'The request cannot be read.')
  }
  return new AppError('internal', '', { cause: error })
}
