import type { Config } from '../config.ts'
import type { Tracing } from './tracing.ts'

/** Undefined without an endpoint; then nothing of OpenTelemetry is loaded either. */
export async function openTracing({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_SERVICE_NAME: service,
  SHUTDOWN_GRACE_MS: graceMs,
}: Config): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined
  const { startTracing } = await import('./tracing.ts')
  return startTracing(endpoint, service, graceMs)
}
