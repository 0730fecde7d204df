import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { openHooks } from '../../../src/agent/hooks/open-hooks.ts'
import { tempFolder } from '../../temp-folder.ts'

export const SECRET = 'a secret of the operator'

export const call = {
  conversationId: 'conv_1',
  turnId: 'turn_1',
  agent: 'default',
  step: 2,
  tool: 'bash',
  callId: 'call_1',
  input: { command: 'ls', nested: { list: [1, 2] } },
}
export const turn = { conversationId: 'conv_1', turnId: 'turn_1', agent: 'default' }

/** Real module files in a folder of their own. */
export async function writeModules(t: TestContext, sources: readonly string[]): Promise<string[]> {
  const folder = await tempFolder(t)
  const paths = sources.map((_source, index) => join(folder, `hook-${index}.mjs`))
  await Promise.all(paths.map((path, index) => writeFile(path, sources[index] ?? '')))
  return paths
}

/** A global list that the modules of a test push to, for they share nothing else with it. */
export function shared(t: TestContext, key: string): unknown[] {
  const seen: unknown[] = []
  Object.assign(globalThis, { [key]: seen })
  t.after(() => Reflect.deleteProperty(globalThis, key))
  return seen
}

export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** A real webhook, and what it received. */
export async function serveWebhook(
  t: TestContext,
  answer: (response: ServerResponse, received: Received) => void,
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const one = { headers: request.headers, body: await text(request) }
    received.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, received }
}

export const json = (value: unknown) => (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

type Line = Record<string, unknown> & { msg: string }

/** Hooks over these modules and webhooks, and the lines that they logged. */
export async function openTestHooks({
  modules = [],
  urls = [],
  limitMs = 5000,
}: {
  modules?: string[]
  urls?: string[]
  limitMs?: number
}) {
  const lines: Line[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const log = pino({ level: 'info', base: null, timestamp: false }, { write })
  const hooks = await openHooks({ modules, urls, secret: SECRET, fetch, log, limitMs })
  return { hooks, lines, failed: () => lines.filter(({ msg }) => msg === 'hook failed') }
}
