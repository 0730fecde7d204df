import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Tracing } from '../../src/telemetry/tracing.ts'
import { buildTestApp, chat, publish, type TestApp } from '../build-app.ts'
import { type Said, type Sent, scriptedModel, toAnswer } from '../scripted-model.ts'
import type { Answer } from './fake-provider.ts'

interface Options {
  env?: Record<string, string>
  /** Contents of skills to store first. */
  skills?: string[]
  stallMs?: number
  log?: Logger
  tracing?: Tracing | undefined
}

/** The service with a scripted model behind it. What the model was sent is checked by `sent`. */
export async function talk(
  t: TestContext,
  script: (Said | Answer)[],
  { env = {}, skills = [], ...options }: Options = {},
) {
  const model = await scriptedModel(t, ...script)
  const quick = { SHUTDOWN_GRACE_MS: '500', ...model.env }
  const app = await buildTestApp(t, { env: { ...quick, ...env }, ...options })
  for (const content of skills) assert.equal((await publish(app, content)).statusCode, 201, content)
  const ask = async (body: object) => {
    const response = await chat(app, body)
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }
  return {
    app,
    ask,
    env: { ...quick, ...env },
    requests: model.requests,
    sent: () => model.sent().map(checkSent),
  }
}

/** Something that happens while the model thinks. */
export const meanwhile =
  (work: () => Promise<unknown>, said: Said): Answer =>
  (response) =>
    void work().then(() => toAnswer(said)(response))

export const tool = (name: string, properties: object = {}, more: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: 'object', properties, ...more },
})

export const remove = async (app: TestApp, name: string) => {
  const response = await app.inject({ method: 'DELETE', url: `/api/v1/skills/${name}` })
  assert.equal(response.statusCode, 204)
}

export const patch = async (app: TestApp, name: string, payload: object) => {
  const response = await app.inject({ method: 'PATCH', url: `/api/v1/skills/${name}`, payload })
  assert.equal(response.statusCode, 200, response.body)
}

/** How often a text stands in what was sent as messages. */
export const occurrences = ({ messages }: Sent, text: string) =>
  JSON.stringify(messages).split(JSON.stringify(text).slice(1, -1)).length - 1

/** What a provider asks of a conversation: each call has one result, in order, right behind it. */
function checkSent(sent: Sent): Sent {
  const ids = new Set<string>()
  assert.equal(sent.messages[0]?.role, 'user')
  sent.messages.forEach(({ role, content }, index) => {
    const next = sent.messages[index + 1]
    if (next) assert.notEqual(role, next.role, 'the roles take turns')
    const calls = content.filter(({ type }) => type === 'tool_use')
    for (const { id = '', name = '' } of calls) {
      assert.match(name, /^[a-zA-Z0-9_-]{1,128}$/)
      assert.ok(id !== '' && !ids.has(id), `the id ${id} is new`)
      ids.add(id)
    }
    if (role !== 'assistant' || calls.length === 0) return
    const results = next?.content.slice(0, calls.length) ?? []
    assert.deepEqual(
      results.map(({ type, tool_use_id }) => [type, tool_use_id]),
      calls.map(({ id }) => ['tool_result', id]),
    )
  })
  const results = sent.messages.flatMap(({ content }) => content)
  assert.equal(results.filter(({ type }) => type === 'tool_result').length, ids.size)
  return sent
}

/** Waits for something to become so, and fails when it does not. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 5000
  while (!(await condition())) {
    assert.ok(performance.now() < limit, 'it did not become so within five seconds')
    await sleep(5)
  }
}

/** A folder of its own, gone with the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}
