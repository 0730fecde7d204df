import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { buildTestApp, publish, put, skillMd } from '../build-app.ts'
import { tempFolder } from '../temp-folder.ts'
import { waysOf } from '../upload.ts'

const CLI = join(import.meta.dirname, '../../node_modules/skills/bin/cli.mjs')
const LIMIT_MS = 120_000

const run = promisify(execFile)

/** The `skills` command as somebody runs it at home, and what it has installed there. */
async function openHome(t: TestContext) {
  const home = await tempFolder(t)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    DISABLE_TELEMETRY: '1',
    CI: '1',
  }
  const folder = join(home, '.claude/skills')
  return {
    async skills(...args: string[]): Promise<string> {
      const options = { cwd: home, env, timeout: LIMIT_MS }
      const { stdout } = await run(process.execPath, [CLI, ...args], options)
      return stripVTControlCharacters(stdout)
    },
    installed: () => readdir(folder),
    read: (path: string) => readFile(join(folder, path)),
  }
}

const TOOLS = {
  'SKILL.md': skillMd('pdf-tools', 'Read references/guide.md.', 'tags: [pdf]\n'),
  'references/guide.md': '# Guide\n',
  'data.bin': Buffer.from([0, 255, 10]),
}
const HERE = ['-g', '-y']
const INTO = ['-a', 'claude-code', '--copy', ...HERE]

async function start(t: TestContext) {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const { zip } = waysOf(TOOLS)
  const stored = await app.inject({ method: 'POST', url: '/api/v1/skills', ...zip })
  assert.equal(stored.statusCode, 201)
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

test('the skills command installs everything, and its update finds what has changed', async (t) => {
  const { app, url } = await start(t)
  const { skills, installed, read } = await openHome(t)

  assert.match(await skills('add', url, ...INTO), /Found 2 skills/)
  assert.deepEqual((await installed()).sort(), ['greet', 'pdf-tools'])
  assert.equal(String(await read('greet/SKILL.md')), skillMd('greet'))
  for (const [path, text] of Object.entries(TOOLS)) {
    assert.deepEqual(await read(`pdf-tools/${path}`), Buffer.from(text), path)
  }
  assert.match(await skills('update', ...HERE), /up to date/i)

  await put(app, 'greet', skillMd('greet', 'Say good morning.'))
  const { zip } = waysOf({ ...TOOLS, 'references/guide.md': '# Other\n' })
  await app.inject({ method: 'PUT', url: '/api/v1/skills/pdf-tools', ...zip })
  await publish(app, skillMd('fresh'))
  const updated = await skills('update', ...HERE)
  assert.match(updated, /Updated greet/)
  assert.match(updated, /Updated pdf-tools/)
  assert.match(updated, /new skill\(s\).*fresh/)
  assert.match(String(await read('greet/SKILL.md')), /good morning/)
  assert.equal(String(await read('pdf-tools/references/guide.md')), '# Other\n')
})

test('below a tag the skills command finds its skills alone', async (t) => {
  const { url } = await start(t)
  const { skills, installed } = await openHome(t)
  assert.match(await skills('add', `${url}/tags/pdf`, ...INTO), /Found 1 skill/)
  assert.deepEqual(await installed(), ['pdf-tools'])
})

test('an unknown agent does not lead the skills command to the skills of all', async (t) => {
  const { url } = await start(t)
  const { skills } = await openHome(t)
  await assert.rejects(skills('add', `${url}/agents/nobody`, ...INTO), { code: 1 })
})
