import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { ROOT, until } from './run-service.ts'
import { load, say, scriptedModel } from './scripted-model.ts'
import { tempFolder } from './temp-folder.ts'

test('the demo shows an upload, a refusal, the catalog, a load and the receipt', async (t) => {
  const { said, leftBehind, ended } = await startDemo(t)

  assert.deepEqual(await ended, [0, null])
  const page = said.stdout
  assert.match(page, /Without an API key the built-in offline model answers/)
  assert.match(page, /✓ 201 commit-message, version 1: \d+ tokens for its line, \d+ for its text\./)
  assert.match(page, /✗ 422 SKILL\.md line 3: .*must be quoted/)
  assert.match(page, /a line for each skill: \d+ tokens/)
  assert.match(page, /│ - code-review: .*\n.*│ - commit-message: /)
  assert.match(page, /step 1 load_skill commit-message → version 1, \d+ tokens/)
  assert.match(page, /I am the offline model\. I loaded the skill commit-message/)
  assert.match(page, /catalog +8 skills on offer, 0 left out +\d+ tokens/)
  assert.match(page, /this turn +\d+ {2}█+\n +every text in the prompt +[\d,]+ {2}█+/)
  assert.equal(page, stripVTControlCharacters(page), 'no colour where there is no terminal')
  assert.ok(page.split('\n').every((line) => line.length <= 100))
  assert.deepEqual(await leftBehind(), [])
})

test('the demo asks the model whose key is set, and is in colour on a terminal', async (t) => {
  const { env, sent } = await scriptedModel(t, load('commit-message'), say('fix: round up'))
  const { said, ended } = await startDemo(t, { ...env, FORCE_COLOR: '1' })

  assert.deepEqual(await ended, [0, null])
  const page = stripVTControlCharacters(said.stdout)
  assert.notEqual(page, said.stdout)
  assert.match(page, /The model is anthropic\/test\./)
  assert.match(page, /step 1 load_skill commit-message/)
  assert.match(page, /fix: round up/)
  assert.equal(sent().length, 2)
})

test('a demo that is stopped leaves neither a process nor a file behind', async (t) => {
  const { said, leftBehind, ended, kill } = await startDemo(t)
  const url = await until(() => /loadskill on (\S+),/.exec(said.stdout)?.[1])
  kill('SIGINT')

  assert.deepEqual(await ended, [130, null])
  assert.match(said.stderr, /^\nThe demo ended early: it was stopped\.\n$/)
  assert.deepEqual(await leftBehind(), [])
  await assert.rejects(fetch(`${url}/health`))
})

test('a demo that cannot start says why in a sentence and leaves nothing behind', async (t) => {
  const { said, leftBehind, ended } = await startDemo(t, { MAX_SKILL_BYTES: 'many' })

  assert.deepEqual(await ended, [1, null])
  assert.match(said.stderr, /^\nThe demo ended early: .*MAX_SKILL_BYTES must be integer\n$/)
  assert.deepEqual(await leftBehind(), [])
})

async function startDemo(t: TestContext, env: Record<string, string> = {}) {
  const folder = await tempFolder(t)
  const demo = spawn(process.execPath, [join(ROOT, 'src/demo.ts')], {
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
  })
  const ended = once(demo, 'close')
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    demo[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
    })
  }
  t.after(async () => {
    demo.kill()
    await ended
  })
  return {
    said,
    ended,
    leftBehind: () => readdir(folder),
    kill: (signal: NodeJS.Signals) => demo.kill(signal),
  }
}
