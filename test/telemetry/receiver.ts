import type { TestContext } from 'node:test'
import type { Answer } from '../agent/fake-provider.ts'
import { startServer } from '../agent/net/local-server.ts'

type Value = Record<'stringValue' | 'intValue' | 'boolValue' | 'doubleValue', unknown>
interface Attribute {
  key: string
  value: Partial<Value>
}
interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Attribute[]
  events: { name: string; attributes: Attribute[] }[]
  status: { code?: number; message?: string }
}
interface SentTraces {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { spans: SentSpan[] }[]
  }[]
}

const accept: Answer = (response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')

/** A receiver of traces (OTLP over HTTP, as JSON) on a port of its own; keeps what it was sent. */
export async function traceReceiver(t: TestContext, answer: Answer = accept) {
  const bodies: string[] = []
  const paths: (string | undefined)[] = []
  const { url, port } = await startServer(t, async (request, response) => {
    const chunks = await request.toArray()
    bodies.push(Buffer.concat(chunks).toString())
    paths.push(request.url)
    answer(response)
  })
  const sent = () => bodies.flatMap((body) => (JSON.parse(body) as SentTraces).resourceSpans)
  return {
    url,
    port,
    bodies,
    paths,
    services: () => sent().map(({ resource }) => valuesOf(resource.attributes)['service.name']),
    spans: () =>
      sent()
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(({ attributes, events, ...span }) => ({
          ...span,
          attributes: valuesOf(attributes),
          events: events.map((event) => ({
            name: event.name,
            attributes: valuesOf(event.attributes),
          })),
        })),
  }
}

const valuesOf = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
