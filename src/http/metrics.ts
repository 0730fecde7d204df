import fp from 'fastify-plugin'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** Requests by route and status, and the process itself, for Prometheus at `/metrics`. */
export const metrics = fp(async (app) => {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const seconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers: [register],
  })
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const route = routeOptions.url ?? 'none'
    seconds.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  app.addHook('onClose', async () => register.clear())

  const config = { scope: 'skills:read' } as const
  app.get('/metrics', { schema: { hide: true }, config }, async (_, reply) =>
    reply.type(register.contentType).send(await register.metrics()),
  )
})
