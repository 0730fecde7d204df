import assert from 'node:assert/strict'
import test from 'node:test'
import { call, openTestHooks, writeModules } from './hook-fixtures.ts'

const place = { conversation_id: 'conv_1', turn_id: 'turn_1', call_id: 'call_1', tool: 'bash' }

/** The arguments as the log has them. */
async function logged(input: unknown): Promise<unknown> {
  const { hooks, lines } = await openTestHooks({})
  await hooks.preToolUse({ ...call, input })
  assert.equal(lines.length, 1)
  return lines[0]?.args
}

test('each call is one line in the log, with its place', async () => {
  const { hooks, lines } = await openTestHooks({})
  assert.equal(await hooks.preToolUse(call), undefined)
  const args = { command: 'ls', nested: '{"list":[1,2]}' }
  assert.deepEqual(lines, [{ level: 30, ...place, step: 2, args, msg: 'tool called' }])
})

const cases: [what: string, input: unknown, args: object][] = [
  ['two arguments', { a: 1, b: true, c: 'x' }, { a: '1', b: 'true' }],
  [
    '60 characters of each',
    { a: 'x'.repeat(60), b: 'y'.repeat(61) },
    { a: 'x'.repeat(60), b: `${'y'.repeat(59)}…` },
  ],
  ['no password', { user: 'a', Password: 'p' }, { user: 'a', Password: '***' }],
  ['no key', { api_key: 'p', apiKey: 'p' }, { api_key: '***', apiKey: '***' }],
  ['no token', { access_token: 'p', max_tokens: 5 }, { access_token: '***', max_tokens: '5' }],
  [
    'no header',
    { headers: { Authorization: 'p', a: 1 } },
    { headers: '{"Authorization":"***","a":1}' },
  ],
  ['no secret in a text', { a: `x ghp_${'Ab3dE6gH9'.repeat(4)}` }, { a: '***' }],
  ['names that only look secret', { author: 'a', passenger: 'b' }, { author: 'a', passenger: 'b' }],
  ['nothing of no object', null, {}],
  ['null', { a: null }, { a: 'null' }],
]
for (const [what, input, args] of cases) {
  test(`the line shows ${what}`, async () => {
    assert.deepEqual(await logged(input), args)
  })
}

test('an output above 100,000 characters is a warning, one of just as many is not', async () => {
  const { hooks, lines } = await openTestHooks({})
  await hooks.postToolUse({ ...call, isError: false, output: 'x'.repeat(100_000) })
  assert.deepEqual(lines, [])
  await hooks.postToolUse({ ...call, isError: false, output: 'x'.repeat(100_001) })
  assert.deepEqual(lines, [
    { level: 40, ...place, output_characters: 100_001, msg: 'tool output is large' },
  ])
})

test('a call that another hook refuses is in the log, too', async (t) => {
  const modules = await writeModules(t, [
    `export const PreToolUse = () => ({ decision: 'refuse', reason: 'No.' })`,
  ])
  const { hooks, lines } = await openTestHooks({ modules })
  assert.equal((await hooks.preToolUse(call))?.decision, 'refuse')
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['tool called'],
  )
})
