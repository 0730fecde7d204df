import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { startServer } from '../agent/net/local-server.ts'
import { skillMd } from '../build-app.ts'
import { json, startService } from '../run-service.ts'
import { atOnce, call, load, type Said, say, toAnswer } from '../scripted-model.ts'
import { tempFolder } from '../temp-folder.ts'

/** What the model says next, by how many of its answers with calls it is shown. */
const STEPS: Said[] = [
  atOnce(load('greet'), call('look', { id: '1' }, 'call_look')),
  atOnce(
    call('charge', { id: '1' }, 'call_charge'),
    call('cancel', { id: '1' }, 'call_cancel'),
    call('mine', {}, 'call_mine'),
  ),
  call('charge', { id: '2' }, 'call_charge_2'),
]
const TOOLS = {
  look: { method: 'GET' },
  charge: { method: 'POST' },
  cancel: { method: 'POST', approval: true },
}
const object = { type: 'object', properties: { id: { type: 'string' } } }

export interface Part {
  type: string
  call_id: string
}
export interface Turn {
  status: string
  output: string
  conversation_id: string
  pending: { call_id: string; kind: 'client' | 'approval' }[]
}

/** The real service, the model and the tools around it, and a hand that kills it at a moment. */
export async function killScene(t: TestContext, point: number) {
  const database = join(await tempFolder(t), 'skills.db')
  const hits: string[] = []
  let moment = 0
  let killed = false
  const scene = { kill: () => {} }
  /** One of the moments, counted through the turn. */
  const pass = (): void => {
    moment++
    if (moment !== point) return
    killed = true
    scene.kill()
  }
  /** Before it answers, right behind its answer, and a moment later. */
  async function around(response: ServerResponse, answer: () => void): Promise<void> {
    pass()
    if (killed && response.destroyed) return
    answer()
    pass()
    await sleep(8)
    pass()
  }

  const model = await startServer(t, (request, response) => {
    void request.toArray().then((chunks) => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString())
      checkShown(messages)
      const step = messages.filter((message: { role: string; content: Part[] }) =>
        message.content.some(({ type }) => type === 'tool_use'),
      ).length
      return around(response, () => toAnswer(STEPS[step] ?? say('Done.'))(response))
    })
  })
  const tools = await startServer(t, (request, response) => {
    hits.push(`${request.method} ${request.url}`)
    void around(response, () => void response.end('ok'))
  })

  async function start() {
    const service = await startService(t, {
      env: {
        DATABASE_URL: `sqlite:${database}`,
        MODEL: 'anthropic/test',
        ANTHROPIC_API_KEY: 'key',
        ANTHROPIC_BASE_URL: model.url,
        TOOLS_ALLOW_HOSTS: `127.0.0.1:${tools.port}`,
      },
    })
    scene.kill = () => service.kill('SIGKILL')
    async function ask<Body>(path: string, init?: RequestInit) {
      const response = await fetch(`${service.url}/api/v1${path}`, init)
      const body = (await response.json()) as Body
      return { status: response.status, body }
    }
    return { ...service, ask, chat: (body: object) => ask<Turn>('/chat', json(body)) }
  }
  type Service = Awaited<ReturnType<typeof start>>

  async function setUp({ ask }: Service): Promise<void> {
    await ask('/skills', {
      method: 'POST',
      headers: { 'content-type': 'text/markdown' },
      body: skillMd('greet'),
    })
    for (const [name, { method, ...more }] of Object.entries(TOOLS)) {
      const request = { method, url: `${tools.url}/${name}/{{input.id}}` }
      const tool = { description: name, input_schema: object, request, ...more }
      const put = await ask(`/tools/${name}`, { ...json(tool), method: 'PUT' })
      assert.equal(put.status, 201)
    }
  }

  function checkDatabase(): void {
    const db = new Database(database, { readonly: true })
    assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    db.close()
  }

  return {
    hits,
    start,
    setUp,
    checkDatabase,
    pass,
    moments: () => moment,
    wasKilled: () => killed,
  }
}

/** What a provider asks for: each call has one result, right behind it and in its order. */
function checkShown(
  messages: { role: string; content: { type: string; id?: string; tool_use_id?: string }[] }[],
): void {
  for (const [index, { content }] of messages.entries()) {
    const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const results = messages[index + 1]?.content.filter(({ type }) => type === 'tool_result') ?? []
    if (calls.length > 0)
      assert.deepEqual(
        results.map(({ tool_use_id }) => tool_use_id),
        calls,
      )
  }
}
