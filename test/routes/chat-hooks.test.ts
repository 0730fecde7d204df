import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { readAll, startServer } from '../agent/net/local-server.ts'
import { talk, temporaryFolder } from '../agent/talk.ts'
import { toolShop } from '../agent/tool-shop.ts'
import { buildTestApp, get } from '../build-app.ts'
import { call, type Said, say } from '../scripted-model.ts'

const look = call('look', { id: '7' }, 'call_look')
const done = say('Done.')

/** A conversation with a hook, which notes what it is told of in `globalThis`. */
async function hooked(t: TestContext, module: string, script: Said[]) {
  const path = join(await temporaryFolder(t), 'hook.mjs')
  await writeFile(path, `const seen = globalThis[${JSON.stringify(path)}] = []\n${module}`)
  const shop = await toolShop(t)
  const talking = await talk(t, script, { env: { ...shop.env, HOOKS: path } })
  await shop.add(talking.app, 'look', { method: 'GET' })
  const seen = (): { event: string; [member: string]: unknown }[] => Reflect.get(globalThis, path)
  return { ...talking, hits: shop.hits, seen }
}

const NOTES = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']
  .map((name) => `export function ${name}(event) { seen.push(event) }`)
  .join('\n')

suite('hooks', { concurrency: 2 }, () => {
  test('are told of what happens, in its order, and change nothing by listening', async (t) => {
    const { ask, seen } = await hooked(t, NOTES, [look, done])
    const turn = await ask({ message: 'Look it up.' })
    assert.deepEqual([turn.status, turn.output], ['completed', 'Done.'])
    const events = seen()
    assert.deepEqual(
      events.map(({ event }) => event),
      ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
    )
    const [prompted, before, after, stopping] = events
    assert.equal(prompted?.prompt, 'Look it up.')
    for (const event of events) {
      assert.equal(event.conversation_id, turn.conversation_id)
      assert.deepEqual([event.turn_id, event.agent], [turn.id, 'default'])
    }
    const told = { tool: 'look', call_id: 'call_look', input: { id: '7' }, step: 1 }
    for (const [key, value] of Object.entries(told)) assert.deepEqual(before?.[key], value)
    assert.deepEqual([after?.output, after?.is_error], ['answer to /look/7', false])
    assert.deepEqual([stopping?.output, stopping?.step], ['Done.', 2])
  })

  for (const [title, answer] of [
    ['refuses', "{ decision: 'refuse', reason: 'Not today.' }"],
    ['fails', "(() => { throw new Error('broken') })()"],
    ['answers rubbish', "{ decision: 'perhaps' }"],
  ] as const) {
    test(`a PreToolUse that ${title} refuses the call, and the turn goes on`, async (t) => {
      const module = `export const PreToolUse = () => (${answer})`
      const { ask, hits, sent } = await hooked(t, module, [look, done])
      const turn = await ask({ message: 'Look it up.' })
      assert.deepEqual([turn.status, hits], ['completed', []])
      assert.deepEqual(turn.receipt.denied, [{ tool: 'look', skill: null, by: 'hook', step: 1 }])
      const [result] = sent()[1]?.results ?? []
      assert.equal(result?.isError, true)
      if (title === 'refuses') assert.equal(result?.text, 'Not today.')
    })
  }

  test('a PreToolUse that asks makes the call wait, and is not asked out of it again', async (t) => {
    const module = "export const PreToolUse = () => ({ decision: 'ask', reason: 'Sure?' })"
    const { ask, hits } = await hooked(t, module, [look, done])
    const { conversation_id, stop_reason } = await ask({ message: 'Look it up.' })
    assert.deepEqual([stop_reason, hits], ['approval', []])
    const approvals = [{ call_id: 'call_look', decision: 'approve' }]
    const turn = await ask({ conversation_id, approvals })
    assert.deepEqual([turn.status, hits], ['completed', ['GET /look/7']])
  })

  test('the others break no turn when they fail', async (t) => {
    const module = ['UserPromptSubmit', 'PostToolUse', 'Stop']
      .map((name) => `export async function ${name}() { throw new Error('broken') }`)
      .join('\n')
    const { ask, hits } = await hooked(t, module, [look, done])
    const turn = await ask({ message: 'Look it up.' })
    assert.deepEqual([turn.status, hits.length], ['completed', 1])
  })

  test('a Stop adds a message and lets the loop go on, three times at most', async (t) => {
    const module = "export const Stop = () => ({ message: 'Have you tested it?' })"
    const script = ['One.', 'Two.', 'Three.', 'Four.'].map(say)
    const { app, ask, sent } = await hooked(t, module, script)
    const turn = await ask({ message: 'Do it.' })
    assert.deepEqual([turn.status, turn.steps, turn.output], ['completed', 4, 'Four.'])
    assert.match(JSON.stringify(sent()[1]?.messages.at(-1)), /Have you tested it\?/)
    const roles = turn.messages.map(({ role }: { role: string }) => role)
    assert.deepEqual(roles, [...Array(3).fill(['assistant', 'user']).flat(), 'assistant'])
    const stored = (await get(app, `/conversations/${turn.conversation_id}`)).json()
    assert.equal(stored.messages.length, 8)
    const [again] = (await get(app, `/conversations/${turn.conversation_id}/turns`)).json().data
    assert.deepEqual(again.messages, turn.messages)
  })

  test('a webhook is signed, and its answer counts', async (t) => {
    const secret = 'a secret of the hooks'
    const told: { headers: Record<string, unknown>; body: string }[] = []
    const { url } = await startServer(t, (request, response) => {
      void readAll(request).then((body) => {
        told.push({ headers: request.headers, body })
        const refuse = JSON.parse(body).event === 'PreToolUse'
        response.end(refuse ? '{"decision":"refuse","reason":"By the web."}' : '')
      })
    })
    const shop = await toolShop(t)
    const env = { ...shop.env, HOOK_URLS: `${url}/hook`, HOOK_SECRET: secret }
    const { app, ask } = await talk(t, [look, done], { env })
    await shop.add(app, 'look', { method: 'GET' })
    const turn = await ask({ message: 'Look it up.' })
    assert.deepEqual(turn.receipt.denied, [{ tool: 'look', skill: null, by: 'hook', step: 1 }])
    assert.deepEqual(shop.hits, [])
    assert.ok(told.length >= 2)
    for (const { headers, body } of told) {
      const signed = `${headers['x-loadskill-timestamp']}.${body}`
      const signature = createHmac('sha256', secret).update(signed).digest('hex')
      assert.equal(headers['x-loadskill-signature'], `v1=${signature}`)
      assert.equal(headers['x-loadskill-event'], JSON.parse(body).event)
    }
  })

  test('a module that is not there stops the start with one line that names it', async (t) => {
    const opening = buildTestApp(t, { env: { HOOKS: '/no/such/hook.mjs' } })
    await assert.rejects(opening, (error: Error) => {
      assert.match(error.message, /^[^\n]*\/no\/such\/hook\.mjs[^\n]*$/)
      return true
    })
  })
})
