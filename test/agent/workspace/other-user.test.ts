import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SUITE = fileURLToPath(new URL('bash.test.ts', import.meta.url))
const SOMEBODY = { uid: 12_345, gid: 12_345 }

/** Root runs commands in another way than everybody else, who has a namespace of users for it. */
test('commands run for root and for other users alike', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('not run by root, like all the other tests')
  const readable = `require('node:fs').accessSync(${JSON.stringify(SUITE)})`
  const { status } = spawnSync(process.execPath, ['-e', readable], { ...SOMEBODY, cwd: '/' })
  if (status !== 0) return t.skip('other users cannot read the project')
  const { CI = '', PATH = '' } = process.env
  const output = await new Promise<string>((resolve) => {
    const options = { ...SOMEBODY, cwd: '/', env: { PATH, ...(CI && { CI }) } }
    const parameters = ['--test', '--test-reporter=tap', SUITE]
    execFile(process.execPath, parameters, options, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error?.message ?? ''}`),
    )
  })
  const reason = output.match(/# SKIP (no sandbox: .*)/)?.[1]
  if (reason) return t.skip(reason)
  assert.match(output, /^# fail 0$/m, output)
  assert.match(output, /^# skipped 0$/m, output)
})
