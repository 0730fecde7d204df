import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { AppError } from '../errors.ts'

interface Options {
  /** Resolves once no work is left; to false when some would not end. */
  drain(): Promise<boolean>
}

/** While the service closes, new requests are told so, and no idle connection holds it up. */
export const shutdown = fp<Options>(async (app, { drain }) => {
  let closing = false
  // Node does not count a connection as idle before its first request.
  const silent = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }) => silent.delete(socket))

  app.addHook('onRequest', async (_, reply) => {
    if (!closing) return
    reply.header('connection', 'close')
    throw new AppError('shutting_down', 'The service is shutting down.', { retryAfter: 5 })
  })

  app.addHook('preClose', async () => {
    closing = true
    const drained = await drain()
    // A request that is running when the service closes would else hold it open for a minute.
    app.server.keepAliveTimeout = 1
    for (const socket of silent) socket.destroy()
    if (!drained) app.server.closeAllConnections()
  })
})
