import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { goneSignal } from '../../http/gone.ts'
import { retryAfterOf, toProblem } from '../../http/problem.ts'
import { authInfoOf } from './caller.ts'
import { refuseForeign } from './foreign.ts'
import type { McpParts, openMcpHandler } from './handler.ts'

interface Options extends McpParts {
  /** Whether the service listens on a loopback address. */
  onLoopback: boolean
}

/** The Model Context Protocol, stateless over Streamable HTTP (contracts.md 8). */
export const mcpRoutes: FastifyPluginAsync<Options> = async (app, { onLoopback, ...parts }) => {
  let opening: Promise<ReturnType<typeof openMcpHandler>> | undefined
  // The SDK takes longer to load than all else of the start.
  const open = () => {
    opening ??= import('./handler.ts').then((sdk) => sdk.openMcpHandler(parts, app.log))
    return opening
  }
  app.setErrorHandler(sendFailure)
  app.addHook('onRequest', async ({ id, headers }, reply) => {
    reply.header('request-id', id)
    refuseForeign(headers, onLoopback)
  })
  // A stream of notifications would hold the close up.
  app.addHook('preClose', async () => (await opening)?.close())

  const config = { scope: 'skills:read' } as const
  app.post('/mcp', { schema: { hide: true }, config }, async (request, reply) => {
    const { headers, body } = request
    if (body === undefined || body === null) {
      throw new AppError('body_invalid', 'The body is empty, and should be a JSON-RPC message.')
    }
    const { fetch } = await open()
    const sent = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: toHeaders(headers),
      signal: goneSignal(reply),
    })
    return reply.send(await fetch(sent, { parsedBody: body, ...withKey(request) }))
  })
}

function withKey(request: FastifyRequest) {
  const authInfo = authInfoOf(request)
  return authInfo && { authInfo }
}

function toHeaders(sent: FastifyRequest['headers']): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(sent)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  return headers
}

const PARSE_ERROR = -32_700
const INTERNAL_ERROR = -32_603
const REFUSED = -32_000

/** What is refused before there is a message to answer. */
function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, code, detail = 'Internal error' } = toProblem(error, request)
  if (status >= 500 && !reply.raw.destroyed) request.log.error({ err: error }, 'request failed')
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  const kind = code === 'body_invalid' ? PARSE_ERROR : status >= 500 ? INTERNAL_ERROR : REFUSED
  return reply
    .code(status)
    .type('application/json')
    .send({
      jsonrpc: '2.0',
      id: null,
      error: { code: kind, message: detail, data: { code } },
    })
}
