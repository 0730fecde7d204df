import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { pino } from 'pino'
import { openHooks } from '../../../src/agent/hooks/open-hooks.ts'
import {
  call,
  json,
  openTestHooks,
  SECRET,
  serveWebhook,
  turn,
  writeModules,
} from './hook-fixtures.ts'

test('a webhook is sent the event, signed', async (t) => {
  const answer = { decision: 'refuse', reason: 'No.' }
  const { url, received } = await serveWebhook(t, json(answer))
  const { hooks } = await openTestHooks({ urls: [url] })
  const before = Math.floor(Date.now() / 1000)
  assert.deepEqual(await hooks.preToolUse(call), answer)

  const [{ headers, body } = { headers: {}, body: '' }] = received
  assert.deepEqual(JSON.parse(body), {
    event: 'PreToolUse',
    conversation_id: 'conv_1',
    turn_id: 'turn_1',
    agent: 'default',
    step: 2,
    tool: 'bash',
    call_id: 'call_1',
    input: call.input,
  })
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['x-loadskill-event'], 'PreToolUse')
  const timestamp = headers['x-loadskill-timestamp']
  assert.ok(Number(timestamp) >= before && Number(timestamp) <= Math.ceil(Date.now() / 1000))
  const expected = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex')
  assert.equal(headers['x-loadskill-signature'], `v1=${expected}`)
  assert.ok(!JSON.stringify([headers, body]).includes(SECRET))
})

test('every event is sent to every webhook, and an empty answer says nothing', async (t) => {
  const first = await serveWebhook(t, (response) => response.writeHead(204).end())
  const second = await serveWebhook(t, (response) => response.end(''))
  const third = await serveWebhook(t, json({ message: 'Go on.' }))
  const { hooks, failed } = await openTestHooks({ urls: [first.url, second.url, third.url] })
  await hooks.userPromptSubmit({ ...turn, prompt: 'Hello.' })
  await hooks.postToolUse({ ...call, isError: false, output: 'x' })
  assert.deepEqual(await hooks.stop({ ...turn, step: 1, output: 'x' }), { message: 'Go on.' })
  for (const { received } of [first, second, third]) {
    assert.deepEqual(
      received.map(({ headers }) => headers['x-loadskill-event']),
      ['UserPromptSubmit', 'PostToolUse', 'Stop'],
    )
  }
  assert.deepEqual(failed(), [])
})

test('modules are asked before webhooks', async (t) => {
  const { url, received } = await serveWebhook(t, json({ decision: 'ask' }))
  const modules = await writeModules(t, [
    `export const PreToolUse = ({ tool }) => tool === 'bash' ? { decision: 'refuse' } : undefined`,
  ])
  const { hooks } = await openTestHooks({ modules, urls: [url] })
  assert.equal((await hooks.preToolUse(call))?.decision, 'refuse')
  assert.equal(received.length, 0)
  assert.equal((await hooks.preToolUse({ ...call, tool: 'glob' }))?.decision, 'ask')
})

const failures: [what: string, answer: (response: ServerResponse) => void, why: RegExp][] = [
  ['answers 500', (response) => response.writeHead(500).end('{}'), /answered 500/],
  ['answers 404', (response) => response.writeHead(404).end(), /answered 404/],
  ['redirects', (response) => response.writeHead(307, { location: '/x' }).end(), /answered 307/],
  ['answers no JSON', (response) => response.end('<html>'), /JSON/],
  ['answers rubbish', json([1]), /The answer is no/],
  ['answers too much', json({ reason: 'x'.repeat(70_000) }), /above 65536 bytes/],
  ['never answers', () => {}, /longer than 200 ms/],
  ['never ends its answer', (response) => response.write('{'), /longer than 200 ms/],
  ['hangs up', (response) => response.destroy(), /fetch failed/],
]
for (const [what, answer, why] of failures) {
  test(`a webhook that ${what} is passed over, and refuses a call`, async (t) => {
    const { url, received } = await serveWebhook(t, answer)
    const next = await serveWebhook(t, json({ message: 'Go on.' }))
    const urls = [`${url}?key=sentinel`, next.url]
    const { hooks, failed } = await openTestHooks({ urls, limitMs: 200 })
    assert.deepEqual(await hooks.stop({ ...turn, step: 1, output: '' }), { message: 'Go on.' })
    assert.equal((await hooks.preToolUse(call))?.decision, 'refuse')
    assert.equal(received.length, 2)

    const logged = JSON.stringify(failed())
    assert.match(logged, why)
    assert.ok(logged.includes(url))
    assert.ok(!logged.includes('sentinel') && !logged.includes(SECRET))
  })
}

const log = pino({ level: 'silent' })
const unusable = ['', 'x', 'ftp://a/', 'file:///etc/x', 'http://user:sentinel@a/', 'http://']
for (const url of unusable) {
  test(`"${url}" is no webhook, and stops the start`, async () => {
    const opened = openHooks({ modules: [], urls: [url], secret: SECRET, fetch, log })
    await assert.rejects(opened, /^Error: HOOK_URLS must hold http or https URLs(?!.*sentinel)/)
  })
}

test('webhooks without a secret stop the start', async () => {
  const opened = openHooks({ modules: [], urls: ['http://a/'], secret: undefined, fetch, log })
  await assert.rejects(opened, /^Error: HOOK_SECRET must be set/)
})
