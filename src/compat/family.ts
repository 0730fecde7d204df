import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { retryAfterOf, toProblem } from '../http/problem.ts'
import type { Answer } from '../store/idempotency.ts'
import { toAnthropicFailure, toOpenaiFailure } from './failure.ts'

/** Whose clients are spoken to. */
export type Family = 'anthropic' | 'openai'

/** By a header that one family's clients always send; the credential decides nothing. */
const familyOf = ({ headers }: { headers: IncomingHttpHeaders }): Family =>
  'anthropic-version' in headers || 'anthropic-beta' in headers ? 'anthropic' : 'openai'

interface Handlers<Handler> {
  get(family: unknown): Handler | null
  set(family: unknown, handler: Handler): void
}

/** Lets two routes share a path: `constraints: { family }` says whose a route is. */
export const familyConstraint = {
  name: 'family',
  deriveConstraint: familyOf,
  storage<Handler>(): Handlers<Handler> {
    const handlers = new Map<unknown, Handler>()
    return {
      get: (family) => handlers.get(family) ?? null,
      set: (family, handler) => {
        handlers.set(family, handler)
      },
    }
  },
}

/** Whether a request is one of these families', also when no route takes it. */
export const isCompat = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url)

/** All answers of a plugin's routes are those of one family; absent: of the request's own. */
export function speakAs(app: FastifyInstance, family?: Family): void {
  app.setErrorHandler((error, request, reply) =>
    sendFailure(error, request, reply, family ?? familyOf(request)),
  )
  app.addHook('onRequest', async ({ id }, reply) => {
    reply.header('request-id', id)
  })
}

export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  family = familyOf(request),
): FastifyReply {
  const { status, headers, body } = toRefusal(error, request, family)
  if (status >= 500 && !reply.raw.destroyed) request.log.error({ err: error }, 'request failed')
  return reply.code(status).header('request-id', request.id).headers(headers).send(body)
}

/** A failure as the clients of a family read it. */
export function toRefusal(error: unknown, request: FastifyRequest, family: Family): Answer {
  const problem = toProblem(error, request)
  const { status, code } = problem
  const retryAfter = retryAfterOf(error)
  const failure = family === 'anthropic' ? toAnthropicFailure(problem) : toOpenaiFailure(problem)
  return {
    status: status === 422 ? 400 : status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(retryAfter !== undefined && { 'retry-after': `${retryAfter}` }),
      // These clients try every conflict again, unless they are told not to.
      ...(status === 409 && code !== 'idempotency_in_flight' && { 'x-should-retry': 'false' }),
    },
    body: JSON.stringify(failure),
  }
}
