import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/** One line a request, once it is answered: reads that succeed at debug, the rest at info. */
class RequestLog extends LogController {
  override incomingRequest(): void {}
  override routeNotFound(): void {}
  override defaultErrorLog(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { method, url, key } = request
    const read = method === 'GET' || method === 'HEAD'
    const level = read && reply.statusCode < 400 && !error ? 'debug' : 'info'
    const [path] = url.split('?')
    const ms = Math.round(reply.elapsedTime)
    request.log[level](
      { method, path, status: reply.statusCode, ms, ...(key && { key: key.id }) },
      error ? 'request cut' : 'request answered',
    )
  }
}

export const requestLog = new RequestLog({ requestIdLogLabel: 'request_id' })
