import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { toldExporter } from '../../src/telemetry/told-exporter.ts'
import { traceReceiver } from './receiver.ts'

test('the log says once that traces cannot be sent, and once that they are again', async (t) => {
  const statuses = [200, 400, 400, 200, 200, 400]
  const { url } = await traceReceiver(
    t,
    (response) => void response.writeHead(statuses.shift() ?? 500).end('{}'),
  )
  const lines: string[] = []
  const exporter = toldExporter(new OTLPTraceExporter({ url }))
  t.after(() => exporter.shutdown())
  exporter.tellOf({
    info: (message) => void lines.push(message),
    warn: (_, message) => void lines.push(message),
  })
  while (statuses.length > 0) {
    await new Promise<void>((resolve) => exporter.export([], () => resolve()))
  }
  const fails = 'traces cannot be sent: they are dropped'
  assert.deepEqual(lines, [fails, 'traces are sent again', fails])
})
