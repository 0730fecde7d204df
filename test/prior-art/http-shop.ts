import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { eventually } from '../agent/mcp/open-tools.ts'
import { readAll, startServer } from '../agent/net/local-server.ts'
import { talk } from '../agent/talk.ts'
import type { TestApp } from '../build-app.ts'
import { send } from '../requests.ts'
import { type Said, say } from '../scripted-model.ts'
import { instructions, openShop, SHOP_TOOLS } from './shop-fixtures.ts'
import { SKILLS } from './ticket-shop.ts'

const CLOCK = join(import.meta.dirname, '../agent/mcp/clock-process.ts')

/** The variables that hold customers' sessions, and whose they are. */
const SESSIONS = { SHOP_SESSION_CHEN: '陈先生', SHOP_SESSION_WANG: '王小姐' }
export type Session = keyof typeof SESSIONS

for (const name of Object.keys(SESSIONS)) process.env[name] = `the-secret-of-${name}`

const customerOf = (session: string | undefined) =>
  Object.entries(SESSIONS).find(([name]) => process.env[name] === session)?.[1]

const REQUESTS = {
  get_order: { method: 'GET', path: '/orders/{{input.order_id}}' },
  get_policy: { method: 'GET', path: '/policies/{{input.product_id}}?topic={{input.topic}}' },
  search_faq: { method: 'GET', path: '/faq?query={{input.query}}' },
  remember_note: { method: 'PUT', path: '/note', body: { note: '{{input.note}}' } },
  cancel_order: { method: 'POST', path: '/orders/{{input.order_id}}/cancel' },
}

export const CLOCK_TOOL = 'mcp__clock__get_current_time'
/** What the agent offers, in the order in which the model is told of it. */
export const ALL = [
  ...Object.keys(SHOP_TOOLS).toSorted(),
  CLOCK_TOOL,
  'load_skill',
  'read_skill_file',
]

interface Options {
  agent?: object
  /** Of whose customer the requests of the tools are. */
  session?: Session
}

/**
 * The shop as a server with HTTP tools for it, the clock as an MCP server in a process of its own,
 * and the agent `shop` that has both; the model says what the script says.
 */
export async function httpShop(t: TestContext, script: Said[], options: Options = {}) {
  const { agent = {}, session = 'SHOP_SESSION_CHEN' } = options
  const { shop, requests, listener } = shopServer()
  const { port, url } = await startServer(t, listener)
  const env = {
    SKILLS_DIR: SKILLS,
    TOOLS_ALLOW_HOSTS: `127.0.0.1:${port}`,
    MCP_COMMANDS: 'true',
  }
  const talking = await talk(t, [...script, say('再见。')], { env })
  const { app, ask } = talking

  for (const [name, properties] of Object.entries(SHOP_TOOLS)) {
    const { path, ...request } = REQUESTS[name as keyof typeof REQUESTS]
    await write(app, `/tools/${name}`, {
      description: `The tool ${name}.`,
      input_schema: { type: 'object', properties, required: Object.keys(properties) },
      request: { ...request, url: url + path, headers: { 'x-session': `{{env.${session}}}` } },
      approval: name === 'cancel_order',
    })
  }
  await write(app, '/mcp-servers/clock', { command: process.execPath, args: [CLOCK] })
  await eventually(async () => {
    const { status } = (await send(app, 'GET', '/mcp-servers/clock')).json()
    assert.equal(status, 'connected')
  })
  const tools = [...Object.keys(SHOP_TOOLS), CLOCK_TOOL]
  await write(app, '/agents/shop', { instructions, tools, ...agent })

  return {
    app,
    sent: talking.sent,
    /** What the model was sent, as it was sent. */
    prompts: talking.requests,
    shop,
    /** What the server was asked for, as `METHOD path`. */
    requests,
    say: (body: object) => ask({ agent: 'shop', ...body }),
  }
}

async function write(app: TestApp, path: string, payload: object): Promise<void> {
  const response = await send(app, 'PUT', path, { payload })
  assert.equal(response.statusCode, 201, response.body)
}

function shopServer() {
  const { shop, answer } = openShop()
  const requests: string[] = []
  const listener: RequestListener = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://shop')
    requests.push(`${request.method} ${pathname}`)
    const customer = customerOf(request.headers['x-session']?.toString())
    const body = await readAll(request)
    const [, kind = '', id = '', verb] = pathname.split('/')
    const named = { order_id: id, product_id: id, ...Object.fromEntries(searchParams) }
    const input = { ...named, ...(body !== '' && JSON.parse(body)) }
    const answered = customer && answer(toolOf(kind, verb), input, customer)
    response.statusCode = answered ? 200 : 404
    response.setHeader('content-type', 'text/plain; charset=utf-8').end(answered || 'not found')
  }
  return { shop, requests, listener }
}

function toolOf(kind: string, verb: string | undefined): string {
  if (kind === 'orders') return verb === 'cancel' ? 'cancel_order' : 'get_order'
  const others = { policies: 'get_policy', faq: 'search_faq', note: 'remember_note' }
  return new Map(Object.entries(others)).get(kind) ?? ''
}
