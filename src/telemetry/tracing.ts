import { setTimeout as sleep } from 'node:timers/promises'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { toldExporter } from './told-exporter.ts'
import { traceTurns } from './trace-turns.ts'

/** For one request to the receiver of traces. */
const EXPORT_MS = 5000
const NOT_TRACED = /^\/(health|ready|metrics)(\?|$)/

export type Tracing = ReturnType<typeof startTracing>

/** Sends spans of requests and turns to an OTLP receiver; whatever becomes of them, nobody waits. */
export function startTracing(endpoint: string, service: string, graceMs: number) {
  // What is active and what callers send is known by the process; where spans go, by this alone.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = toldExporter(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS }))
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': service })),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_MS })],
  })
  const instrumentation = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    ignorePaths: ({ url }) => NOT_TRACED.test(url),
    requestHook: (span, { method, url, routeOptions }) => {
      span.updateName(routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`)
      // A query says what somebody looked for.
      span.setAttribute('url.path', url.split('?')[0] ?? '')
    },
  })
  instrumentation.setTracerProvider(provider)

  return {
    observer: traceTurns(provider.getTracer('loadskill')),

    /** As a plugin, to be registered before what it shall trace. */
    requests: fp(async (app) => {
      exporter.tellOf(app.log)
      await app.register(instrumentation.plugin())
      // It takes every refusal for a failure, in words that may quote what was sent.
      app.addHook('onRoute', (route) => {
        const hooks = [route.onError ?? []].flat()
        route.onError = hooks.filter(({ name }) => name !== 'recordErrorInSpanHook')
      })
      // Node reads bodies, and tells of the end of answers, outside of what the request began.
      app.addHook('preValidation', goOnWithin)
      app.addHook('onResponse', goOnWithin)
    }),

    /** For every line of the log. */
    logFields() {
      const active = trace.getActiveSpan()?.spanContext()
      return active ? { trace_id: active.traceId, span_id: active.spanId } : {}
    },

    /** Sends what is left, as far as that goes within the time. */
    async close(): Promise<void> {
      // The exporter has told why it failed.
      const sent = provider.shutdown().catch(() => undefined)
      const limit = Math.min(graceMs, EXPORT_MS)
      await Promise.race([sent, sleep(limit, undefined, { ref: false })])
    },
  }
}

function goOnWithin(request: FastifyRequest, _: unknown, done: () => void): void {
  const { context: active } = request.opentelemetry()
  if (active) context.with(active, done)
  else done()
}
