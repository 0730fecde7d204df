import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { get, type TestApp } from '../build-app.ts'
import { post } from '../requests.ts'

/** Both revisions that one endpoint serves. */
export const ERAS = ['legacy', 'auto'] as const

/** A client of the running service, closed when the test ends. */
export async function connectMcp(
  t: TestContext,
  app: TestApp,
  {
    headers = {},
    era = 'auto',
  }: { headers?: Record<string, string>; era?: 'legacy' | 'auto' } = {},
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${await listening(app)}/mcp`), {
    requestInit: { headers },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  await client.connect(transport)
  t.after(() => client.close())
  return client
}

/** Where it listens, from the first time it is asked for. */
export async function listening(app: TestApp): Promise<string> {
  const address = app.server.address()
  if (typeof address === 'object' && address) return `http://127.0.0.1:${address.port}`
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** The text of a call's result, and whether it is an error. */
export async function callTool(client: Client, name: string, input: Record<string, unknown>) {
  const { content, isError = false } = await client.callTool({ name, arguments: input })
  const [part] = content
  assert.ok(part?.type === 'text' && content.length === 1)
  return { text: part.text, isError }
}

type Files = Record<string, string | Buffer>

/** Stores a skill with bundled files. */
export async function store(app: TestApp, content: string, files: Files = {}, query = '') {
  const bundled = Object.entries(files).map(([path, bytes]) => ({
    path,
    content: Buffer.from(bytes).toString('base64'),
    encoding: 'base64',
  }))
  const response = await post(app, `/skills${query}`, { content, files: bundled })
  assert.equal(response.statusCode, 201, response.body)
}

export const stats = async (app: TestApp, name: string, headers: Record<string, string> = {}) => {
  const { loads, reads, versions } = (await get(app, `/skills/${name}/stats`, headers)).json()
  return { loads, reads, versions: versions.map(({ version }: { version: number }) => version) }
}

const JSON_RPC = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** One message without a client. */
export const sendMcp = (app: TestApp, payload: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/mcp', headers: { ...JSON_RPC, ...headers }, payload })

export const message = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** The message of an answer, which is an event where the request is of 2025. */
export const answerOf = ({ body }: { body: string }) =>
  JSON.parse(/^data: (\{.*\})$/m.exec(body)?.[1] ?? body)
