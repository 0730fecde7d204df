import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { json, ROOT, startService } from '../run-service.ts'
import { traceReceiver } from './receiver.ts'

suite('OpenTelemetry', { concurrency: 2 }, () => {
  // prom-client loads the interface, which does nothing by itself.
  const INTERFACE = '@opentelemetry/api'
  const list = join(ROOT, 'test/telemetry/list-modules.ts')

  async function loadedBy(t: TestContext, env: Record<string, string>) {
    const watched = { NODE_OPTIONS: `--import=${list}`, ...env }
    const { url, said, stop } = await startService(t, { env: watched })
    const turn = await fetch(`${url}/api/v1/chat`, json({ message: 'Hi' }))
    assert.equal(turn.status, 200)
    await fetch(`${url}/metrics`)
    assert.equal(await stop(), 0)
    const loaded = new Set([...said.stderr.matchAll(/^loads (\S+)$/gm)].map(([, name]) => name))
    loaded.delete(INTERFACE)
    return loaded
  }

  test('is not loaded without an endpoint', async (t) => {
    assert.deepEqual(await loadedBy(t, { OTEL_SERVICE_NAME: 'mine' }), new Set())
  })

  test('is loaded with one, and sends under the name of the service', async (t) => {
    const receiver = await traceReceiver(t)
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`, OTEL_SERVICE_NAME: 'mine' }
    const loaded = await loadedBy(t, env)
    assert.ok(loaded.has('@fastify/otel') && loaded.has('@opentelemetry/sdk-trace'))
    assert.deepEqual(new Set(receiver.services()), new Set(['mine']))
    assert.ok(receiver.spans().some(({ name }) => name === 'invoke_agent default'))
  })
})
