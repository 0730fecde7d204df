import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { clock } from './clock.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

/** An HTTP server on 127.0.0.1 that can be stopped and started again on its port. */
export async function listen(t: TestContext, handle: Handle) {
  let server: Server | undefined
  let port = 0
  async function start() {
    const started = createServer(handle)
    started.listen(port, '127.0.0.1')
    await once(started, 'listening')
    port = (started.address() as AddressInfo).port
    server = started
  }
  async function stop() {
    server?.closeAllConnections()
    if (server?.listening) await new Promise((resolve) => server?.close(resolve))
  }
  await start()
  t.after(stop)
  return { url: `http://127.0.0.1:${port}/mcp`, start, stop }
}

/** The clock over streamable HTTP with sessions, as servers before 2026 speak it. */
export async function httpClock(t: TestContext) {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  const servers: McpServer[] = []
  const waits: string[] = []
  const headers: (string | undefined)[] = []
  const state = { alarm: false }
  const place = await listen(t, async (request, response) => {
    headers.push(request.headers.authorization)
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && !known) return response.writeHead(404).end()
    if (known) return known.handleRequest(request, response)
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (made) => void sessions.set(made, transport),
    })
    const server = clock({ onWait: (what) => waits.push(what) }, state.alarm)
    servers.push(server)
    await server.connect(transport)
    await transport.handleRequest(request, response)
  })
  return {
    ...place,
    waits,
    headers,
    state,
    servers,
    async stop() {
      sessions.clear()
      await place.stop()
    },
  }
}

/** The same over the protocol of 2026 alone, without sessions. */
export async function modernClock(t: TestContext) {
  const state = { alarm: false }
  const waits: string[] = []
  const handler = createMcpHandler(
    () => clock({ onWait: (what) => waits.push(what) }, state.alarm),
    { legacy: 'reject' },
  )
  const place = await listen(t, toNodeHandler(handler))
  return { ...place, state, waits, notify: handler.notify }
}

/** Answers JSON-RPC by hand: initialize as it should be, and the tools as they are given. */
export async function oddServer(t: TestContext, tools: () => unknown) {
  return listen(t, async (request, response) => {
    const { id, method } = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}')
    if (id === undefined) {
      response.writeHead(202).end()
      return
    }
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'odd', version: '1' },
          }
        : method === 'tools/list'
          ? { tools: tools() }
          : {}
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
}
