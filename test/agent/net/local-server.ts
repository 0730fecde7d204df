import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A server on this machine, which counts who connects to it; closed when the test ends. */
export async function startServer(t: TestContext, listener: RequestListener) {
  const server = createServer(listener)
  const started = { port: 0, url: '', connections: 0 }
  server.on('connection', () => started.connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  started.port = (server.address() as AddressInfo).port
  started.url = `http://127.0.0.1:${started.port}`
  return started
}

/** A server that nobody may ever reach. */
export const startSentinel = (t: TestContext) =>
  startServer(t, (_request, response) => response.end('reached'))

export async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
