import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { buildTestApp, publish, skillMd } from '../build-app.ts'
import { ROOT } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import { listening, store } from './mcp-wire.ts'

const run = promisify(execFile)
const PROGRAM = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** How many checks each has: those that it passes over are not counted. */
const scenarios = {
  'sep-2640-skills-enumeration': 32,
  'sep-2640-skills-directory': 7,
  'sep-2640-skills-manifest': 6,
  'http-header-validation': 14,
  'dns-rebinding-protection': 2,
  caching: 8,
  'server-initialize': 2,
  'tools-list': 3,
  'resources-list': 2,
  'prompts-list': 2,
  'sep-2164-resource-not-found': 4,
}

suite('the conformance tests of MCP', { concurrency: 2 }, () => {
  for (const [scenario, checks] of Object.entries(scenarios)) {
    test(scenario, async (t) => {
      const app = await buildTestApp(t)
      await store(app, skillMd('git-workflow', 'B', 'license: MIT\n'), {
        'references/GUIDE.md': '# Guide',
        'references/deep/more.md': 'More',
        'scripts/run.sh': 'true',
      })
      await publish(app, skillMd('greet'))
      const url = `${await listening(app)}/mcp`
      const { stdout } = await run(
        process.execPath,
        [PROGRAM, 'server', '--url', url, '--scenario', scenario, '--timeout', '120000'],
        { cwd: await tempFolder(t), env: { PATH: process.env.PATH } },
      )
      assert.match(stdout, new RegExp(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`))
    })
  }
})
