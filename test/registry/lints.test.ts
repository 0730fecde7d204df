import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { patch, post, remove, send } from '../requests.ts'

const REFUND = 'Handles refunds of tickets. Use when a customer wants the money for an order back.'
const TOKEN = 'ghp_q7Zt9LmKp2Rw8XvB4nYc6HdJ3sFg5TkQ1uEa'

const refunds = (name: string, more = '', body = 'Pay it back.') =>
  `---\nname: ${name}\ndescription: ${REFUND}\n${more}---\n${body}\n`

interface Warning {
  code: string
  message: string
  file: string
  line?: number
}

const told = (warnings: Warning[]) => warnings.map(({ code, file, line }) => [code, file, line])

/** The names that `similar_to` names. */
function rivals(response: { json(): { warnings: Warning[] } }): string[] {
  const found = response.json().warnings.find(({ code }) => code === 'similar_to')
  return Array.from(found?.message.matchAll(/"([^"]*)"/g) ?? [], ([, name = '']) => name)
}

const WRITES: [title: string, write: (app: TestApp, payload: object) => Promise<unknown>][] = [
  ['publishing', async (app, payload) => (await post(app, '/skills', payload)).json().warnings],
  [
    'a dry run',
    async (app, payload) => (await post(app, '/skills?dry_run=true', payload)).json().warnings,
  ],
  [
    'validating',
    async (app, payload) => (await post(app, '/skills/validate', payload)).json().warnings,
  ],
]
for (const [title, write] of WRITES) {
  test(`${title} warns of links, tools, bundled files and rivals alike`, async (t) => {
    const app = await buildTestApp(t)
    await publish(app, refunds('older'))
    const body = 'Read [one](docs/one.md), [two](docs/two.md) and ![three](gone.png).'
    const payload = {
      content: refunds('newer', 'allowed-tools: get_order, Bash(curl:*)\n', body),
      files: [
        { path: 'docs/one.md', content: `A\n${TOKEN}\n` },
        { path: 'docs/x\u202Ey.md', content: 'B\u200B' },
      ],
    }
    const warnings = (await write(app, payload)) as Warning[]
    assert.deepEqual(told(warnings), [
      ['link_broken', 'SKILL.md', 6],
      ['link_broken', 'SKILL.md', 6],
      ['unknown_tool', 'SKILL.md', 4],
      ['hidden_unicode', 'docs/x\u202Ey.md', undefined],
      ['hidden_unicode', 'docs/x\u202Ey.md', 1],
      ['secret_suspected', 'docs/one.md', 2],
      ['similar_to', 'SKILL.md', undefined],
    ])
    assert.match(warnings.at(-1)?.message ?? '', /"older"/)
  })
}

test('the warnings are kept with the version', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, refunds('older'))
  const { warnings } = (await publish(app, refunds('newer'))).json()
  assert.deepEqual(told(warnings), [['similar_to', 'SKILL.md', undefined]])
  await put(app, 'newer', skillMd('newer'))
  assert.deepEqual((await get(app, '/skills/newer/versions/1')).json().warnings, warnings)
  assert.deepEqual((await get(app, '/skills/newer')).json().warnings, [])
})

test('a refused file is told what its bundled files hold as well', async (t) => {
  const app = await buildTestApp(t)
  const files = [{ path: 'a.txt', content: TOKEN }]
  const answer = await post(app, '/skills/validate', { content: '---\nname: a\n---\nx\n', files })
  const { valid, errors, warnings } = answer.json()
  assert.deepEqual([valid, errors[0].code], [false, 'description_missing'])
  assert.deepEqual(told(warnings), [['secret_suspected', 'a.txt', 1]])
})

test('rivals are those that a model is offered now, and never the skill itself', async (t) => {
  const app = await buildTestApp(t)
  assert.deepEqual(rivals(await publish(app, refunds('first'))), [])
  assert.deepEqual(rivals(await put(app, 'first', refunds('first', '', 'Ask first.'))), [])
  assert.deepEqual(rivals(await publish(app, refunds('second'))), ['first'])
  assert.deepEqual(rivals(await put(app, 'first', refunds('first', '', 'Ask twice.'))), ['second'])

  await patch(app, 'second', { enabled: false })
  await publish(app, refunds('hidden', 'disable-model-invocation: true\n'))
  await publish(app, refunds('draft'), '?activate=false')
  const ask = () => publish(app, refunds('third'), '?dry_run=true')
  assert.deepEqual(rivals(await ask()), ['first'])
  await patch(app, 'second', { enabled: true })
  assert.deepEqual(rivals(await ask()), ['first', 'second'])
  await patch(app, 'draft', { current_version: 1 })
  assert.deepEqual(rivals(await ask()), ['draft', 'first', 'second'])
  await remove(app, 'first')
  await patch(app, 'second', { description: 'Finds the seats of a venue. Use when asked where.' })
  assert.deepEqual(rivals(await ask()), ['draft'])
})

test('a skill that no model is offered has no rivals', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, refunds('first'))
  const hidden = refunds('second', 'disable-model-invocation: true\n')
  assert.deepEqual(rivals(await publish(app, hidden)), [])
})

test('the catalog is right after every kind of write', async (t) => {
  const app = await buildTestApp(t)
  const shown = async () => {
    const { body } = await get(app, '/catalog')
    return Array.from(body.matchAll(/^- ([a-z]+):/gm), ([, name]) => name).join(' ')
  }
  for (const name of ['m', 'z', 'a', 'k']) await publish(app, skillMd(name))
  assert.equal(await shown(), 'a k m z')
  await publish(app, skillMd('b'), '?activate=false')
  await put(app, 'k', skillMd('k', 'Other.'), { 'if-match': '*' })
  await put(app, 'm', skillMd('m', 'Bye.', 'disable-model-invocation: true\n'))
  assert.equal(await shown(), 'a k z')
  await patch(app, 'b', { current_version: 1 })
  await patch(app, 'z', { enabled: false })
  assert.equal(await shown(), 'a b k')
  await patch(app, 'k', { description: 'Waves. Use when somebody leaves the house.' })
  await remove(app, 'a')
  assert.equal(await shown(), 'b k')
  assert.match((await get(app, '/catalog')).body, /^- k: Waves\./m)
  await patch(app, 'z', { enabled: true })
  await put(app, 'm', skillMd('m'))
  assert.equal(await shown(), 'b k m z')
})

test('the skills that ship earn no warning when they are loaded', async (t) => {
  const root = join(import.meta.dirname, '../../skills')
  const app = await buildTestApp(t, { env: { SKILLS_DIR: root } })
  for (const name of readdirSync(root)) {
    assert.deepEqual((await send(app, 'GET', `/skills/${name}`)).json().warnings, [], name)
  }
})
