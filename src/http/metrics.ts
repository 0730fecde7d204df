import fp from 'fastify-plugin'
import { collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'
import { openStreams } from './sse.ts'

interface Options {
  /** What else is told at `/metrics`, emptied when the app closes. */
  register: Registry
  /** How many writes wait for their turn. */
  waitingWrites(): number
}

/** Requests by route and status, and the process itself, for Prometheus at `/metrics`. */
export const metrics = fp<Options>(async (app, { register, waitingWrites }) => {
  const registers = [register]
  collectDefaultMetrics({ register })
  const seconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers,
  })
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const route = routeOptions.url ?? 'none'
    seconds.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  gauge('loadskill_streams_open', 'Answers that are streamed now', () => openStreams(app.server))
  gauge('loadskill_writes_waiting', 'Writes that wait for their commit (SQLite)', waitingWrites)
  app.addHook('onClose', async () => register.clear())

  const config = { scope: 'skills:read' } as const
  app.get('/metrics', { schema: { hide: true }, config }, async (_, reply) =>
    reply.type(register.contentType).send(await register.metrics()),
  )
})
