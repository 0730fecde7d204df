import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, publish, skillMd } from '../build-app.ts'
import { patch } from '../requests.ts'
import { callTool, connectMcp, stats, store } from './mcp-wire.ts'

test('a skill is a prompt, unless its author or somebody here says no', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'B', 'argument-hint: "[who]"\n'))
  await publish(app, skillMd('by-hand', 'B', 'disable-model-invocation: true\n'))
  await publish(app, skillMd('not-by-hand', 'B', 'user-invocable: false\n'))
  await publish(app, skillMd('misspelled', 'B', 'user-invokable: "False"\n'))
  await publish(app, skillMd('off'))
  await patch(app, 'off', { enabled: false })
  const client = await connectMcp(t, app)
  const { prompts } = await client.listPrompts()
  assert.deepEqual(
    prompts.map(({ name, arguments: [one] = [] }) => [name, one?.name, one?.description]),
    [
      ['by-hand', 'request', 'What to use the skill for'],
      ['greet', 'request', '[who]'],
    ],
  )
  for (const name of ['not-by-hand', 'misspelled', 'off', 'gret', '__proto__']) {
    await assert.rejects(client.getPrompt({ name }), { code: -32602 }, name)
  }
  await assert.rejects(client.getPrompt({ name: 'gret' }), /The nearest names: greet\./)
})

test('a prompt is the body of its skill, what it is for, and counts as a load', async (t) => {
  const app = await buildTestApp(t)
  await store(app, skillMd('by-hand', 'BODY', 'disable-model-invocation: true\n'), { 'a.md': 'A' })
  const client = await connectMcp(t, app)
  const { messages } = await client.getPrompt({
    name: 'by-hand',
    arguments: { request: 'Greet Ann.' },
  })
  const [{ role, content } = { role: '', content: { type: 'none' } }] = messages
  assert.ok(content.type === 'text' && 'text' in content)
  assert.deepEqual([messages.length, role], [1, 'user'])
  assert.match(content.text, /^<skill name="by-hand" version="1">\nBODY\n(.*\n)*\nGreet Ann\.$/)
  const file = await callTool(client, 'read_skill_file', { skill: 'by-hand', path: 'a.md' })
  assert.equal(file.text, 'A')
  assert.deepEqual(await stats(app, 'by-hand'), { loads: 1, reads: 1, versions: [1] })
})

test('prompts come in pages', async (t) => {
  const app = await buildTestApp(t)
  const names = Array.from({ length: 60 }, (_, n) => `skill-${String(n).padStart(2, '0')}`)
  for (const name of names) await publish(app, skillMd(name))
  const client = await connectMcp(t, app)
  const { prompts } = await client.listPrompts()
  assert.deepEqual(
    prompts.map(({ name }) => name),
    names,
  )
  await assert.rejects(client.listPrompts({ cursor: 'made-up' }), { code: -32602 })
})
