import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { pino } from 'pino'
import { openHooks } from '../../../src/agent/hooks/open-hooks.ts'
import { readHookPaths, readHookUrls } from '../../../src/agent/hooks/settings.ts'
import { tempFolder } from '../../temp-folder.ts'
import { call, openTestHooks, shared, turn, writeModules } from './hook-fixtures.ts'

const REFUSES = `export const PreToolUse = () => ({ decision: 'refuse', reason: 'No.' })`
const says = (key: string, word: string, answer = 'undefined') =>
  `export async function PreToolUse() { globalThis.${key}.push('${word}'); return ${answer} }`

test('the example of the README refuses what it should, and nothing else', async (t) => {
  const modules = await writeModules(t, [
    `export async function PreToolUse({ tool, input }) {
      if (tool === 'bash' && input.command.includes('curl')) {
        return { decision: 'refuse', reason: 'Nothing is fetched here.' }
      }
    }`,
  ])
  const { hooks, failed } = await openTestHooks({ modules })
  const asked = await hooks.preToolUse({ ...call, input: { command: 'curl example.org' } })
  assert.deepEqual(asked, { decision: 'refuse', reason: 'Nothing is fetched here.' })
  assert.equal(await hooks.preToolUse(call), undefined)
  assert.deepEqual(failed(), [])
})

test('each event reaches the function of its name, as plain JSON', async (t) => {
  const seen = shared(t, 'everyEvent')
  const names = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']
  const modules = await writeModules(t, [
    names
      .map((name) => `export function ${name}(event) { globalThis.everyEvent.push(event) }`)
      .join('\n'),
  ])
  const { hooks } = await openTestHooks({ modules })
  await hooks.userPromptSubmit({ ...turn, prompt: 'Hello.' })
  await hooks.preToolUse(call)
  await hooks.postToolUse({ ...call, isError: true, output: 'x'.repeat(5000) })
  assert.equal(await hooks.stop({ ...turn, step: 3, output: 'Done.' }), undefined)

  const place = { conversation_id: 'conv_1', turn_id: 'turn_1', agent: 'default' }
  const called = { ...place, step: 2, tool: 'bash', call_id: 'call_1', input: call.input }
  const part = { output: 'x'.repeat(2000), output_characters: 5000 }
  assert.deepEqual(seen, [
    { event: 'UserPromptSubmit', ...place, prompt: 'Hello.' },
    { event: 'PreToolUse', ...called },
    { event: 'PostToolUse', ...called, is_error: true, ...part },
    { event: 'Stop', ...place, step: 3, output: 'Done.', output_characters: 5 },
  ])
})

test('modules are asked in their order, and the first that answers is the last', async (t) => {
  const seen = shared(t, 'inOrder')
  const modules = await writeModules(t, [
    says('inOrder', 'first'),
    'export const Stop = () => ({ message: "Go on." })',
    says('inOrder', 'second', `{ decision: 'ask', reason: 'Really?' }`),
    says('inOrder', 'third', `{ decision: 'refuse', reason: 'No.' }`),
  ])
  const { hooks } = await openTestHooks({ modules })
  assert.deepEqual(await hooks.preToolUse(call), { decision: 'ask', reason: 'Really?' })
  assert.deepEqual(seen, ['first', 'second'])
  assert.deepEqual(await hooks.stop({ ...turn, step: 1, output: '' }), { message: 'Go on.' })
})

test('a hook that changes the event changes nothing', async (t) => {
  const seen = shared(t, 'changed')
  const modules = await writeModules(t, [
    `export function PreToolUse(event) { event.input.command = 'rm'; event.input.nested.list.push(3) }`,
    'export function PreToolUse(event) { globalThis.changed.push(event.input) }',
  ])
  const { hooks } = await openTestHooks({ modules })
  await hooks.preToolUse(call)
  const unchanged = { command: 'ls', nested: { list: [1, 2] } }
  assert.deepEqual(seen, [unchanged])
  assert.deepEqual(call.input, unchanged)
})

const failures: [what: string, source: string, error: RegExp][] = [
  ['throws', 'throw new Error("broken")', /broken/],
  ['throws what is no error', 'throw "broken"', /broken/],
  ['throws before it awaits', 'null.x', /null/],
  ['takes too long', 'return new Promise(() => {})', /longer than 50 ms/],
  ['answers a text', 'return "no"', /The answer is no/],
  ['answers yes', 'return true', /The answer is no/],
  ['answers a list', 'return [1]', /The answer is no/],
  ['decides what there is not', 'return { decision: "allow", message: 1 }', /The answer is no/],
  ['gives no text', 'return { decision: "refuse", reason: 1, message: " " }', /The answer is no/],
  [
    'answers what cannot be read',
    'return { get decision() { throw new Error("trap") } }',
    /trap|no/,
  ],
  ['says too much', 'return { message: "x".repeat(40_000) }', /32768 allowed|The answer is no/],
]
for (const [what, source, error] of failures) {
  test(`a hook that ${what} is passed over, and refuses a call`, async (t) => {
    const names = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']
    const failing = names.map((name) => `export async function ${name}() { ${source} }`)
    const next = `export const Stop = () => ({ message: 'Go on.' })\n${REFUSES}`
    const modules = await writeModules(t, [failing.join('\n'), next])
    const { hooks, failed } = await openTestHooks({ modules, limitMs: 50 })
    await hooks.userPromptSubmit({ ...turn, prompt: 'Hello.' })
    await hooks.postToolUse({ ...call, isError: false, output: '' })

    const stopped = await hooks.stop({ ...turn, step: 1, output: '' })
    assert.deepEqual(stopped, { message: 'Go on.' })
    const decided = await hooks.preToolUse(call)
    assert.equal(decided?.decision, 'refuse')
    assert.match(decided?.reason ?? '', /hook that has to be asked first failed/)

    const last = failed().at(-1)
    assert.equal(last?.hook, 'hook-0.mjs')
    assert.equal(last?.event, 'PreToolUse')
    assert.equal(last?.turn_id, 'turn_1')
    assert.match(JSON.stringify(last), error)
  })
}

test('what a hook that only watches answers is ignored', async (t) => {
  const modules = await writeModules(t, [
    'export const UserPromptSubmit = () => 1; export const PostToolUse = () => ({ decision: 1 })',
  ])
  const { hooks, failed } = await openTestHooks({ modules })
  await hooks.userPromptSubmit({ ...turn, prompt: '' })
  await hooks.postToolUse({ ...call, isError: false, output: '' })
  assert.deepEqual(failed(), [])
})

test('an answer without members says nothing, and a reason may be left out', async (t) => {
  const modules = await writeModules(t, [
    'export const PreToolUse = () => ({})',
    'export const PreToolUse = () => null',
    `export const PreToolUse = ({ tool }) => ({ decision: tool, reason: undefined })`,
  ])
  const { hooks } = await openTestHooks({ modules })
  assert.deepEqual(await hooks.preToolUse({ ...call, tool: 'refuse' }), {
    decision: 'refuse',
    reason: 'A hook refused this call.',
  })
  assert.deepEqual(await hooks.preToolUse({ ...call, tool: 'ask' }), {
    decision: 'ask',
    reason: 'A hook wants this call to be approved.',
  })
})

test('a reason is cut, and made fit to be stored', async (t) => {
  const reason = '"\\0\\ud800" + "x".repeat(5000)'
  const modules = await writeModules(t, [
    `export const PreToolUse = () => ({ decision: 'refuse', reason: ${reason} })`,
  ])
  const { hooks } = await openTestHooks({ modules })
  const decided = await hooks.preToolUse(call)
  assert.equal(decided?.reason, `\u{fffd}\u{fffd}${'x'.repeat(1998)}`)
})

const unusable: [what: string, source: string, why: RegExp][] = [
  ['has an error of syntax', 'export const = 1', /cannot be loaded/],
  ['throws', 'throw new Error("first line\\nsecond line")', /cannot be loaded: first line$/],
  ['never loads', 'await new Promise((done) => setTimeout(done, 400))', /longer than 50 ms/],
  ['exports no hook', 'export const preToolUse = () => {}', /exports none of UserPromptSubmit/],
  ['exports no function', 'export const Stop = "x"', /exports Stop, but not as a function/],
]
for (const [what, source, why] of unusable) {
  test(`a module that ${what} stops the start with one line that names it`, async (t) => {
    const modules = await writeModules(t, [REFUSES, source])
    await assert.rejects(openTestHooks({ modules, limitMs: 50 }), (error: Error) => {
      assert.match(error.message, why)
      assert.ok(error.message.includes(modules[1] ?? '?'))
      assert.ok(!error.message.includes('\n'))
      return true
    })
  })
}

test('a module that is not there stops the start with one line that names it', async (t) => {
  const path = join(await tempFolder(t), 'missing.mjs')
  await assert.rejects(
    openTestHooks({ modules: [path] }),
    /^Error: HOOKS: .*missing\.mjs cannot be/,
  )
})

test('the settings are lists that are separated by commas', () => {
  assert.deepEqual(readHookPaths(), [])
  assert.deepEqual(readHookPaths(' a.mjs, /b/c.mjs ,'), [resolve('a.mjs'), '/b/c.mjs'])
  assert.deepEqual(readHookUrls('http://a/x, https://b/'), ['http://a/x', 'https://b/'])
})

test('hooks that are built in are asked before modules', async (t) => {
  const seen = shared(t, 'builtIn')
  const modules = await writeModules(t, [says('builtIn', 'module')])
  const builtIn = [{ PreToolUse: ({ tool }: { tool: string }) => void seen.push(tool) }]
  const log = pino({ level: 'silent' })
  const hooks = await openHooks({ modules, urls: [], secret: undefined, fetch, log, builtIn })
  assert.equal(await hooks.preToolUse(call), undefined)
  assert.deepEqual(seen, ['bash', 'module'])
})

test('without hooks everything goes on', async () => {
  const log = pino({ level: 'silent' })
  const hooks = await openHooks({ modules: [], urls: [], secret: undefined, fetch, log })
  assert.equal(await hooks.preToolUse(call), undefined)
  assert.equal(await hooks.stop({ ...turn, step: 1, output: '' }), undefined)
})
