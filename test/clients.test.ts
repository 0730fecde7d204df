import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { skillMd } from './build-app.ts'
import { CLI, writeFiles } from './cli/run-cli.ts'
import { assertLinks, assertShown, at, examplesIn, readPage } from './pages.ts'
import { ROOT, startService } from './run-service.ts'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)

const page = await readPage('docs/clients.md')
const readme = await readPage('README.md')
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.slice(0, text.indexOf('\n')), text }))

/** A folder as a reader has it, and the commands that are installed there. */
async function openFolder(t: TestContext) {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'my-skill/SKILL.md': skillMd('my-skill'),
    'bin/loadskill': `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`,
  })
  await chmod(join(cwd, 'bin/loadskill'), 0o755)
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'))
  const env = {
    PATH: [join(cwd, 'bin'), process.env.PATH].join(delimiter),
    HOME: cwd,
    DISABLE_TELEMETRY: '1',
    CI: '1',
  }
  return { cwd, env }
}

suite('the page of clients answers what it shows', { concurrency: 2 }, () => {
  for (const { title, text } of sections) {
    for (const [index, { language, code, answer }] of examplesIn(text, ['js', 'sh']).entries()) {
      test(`${title}, ${index + 1}`, async (t) => {
        assert.ok(answer, 'an answer is shown')
        const { cwd, env } = await openFolder(t)
        const { url } = await startService(t)
        // What an example does not store itself is there before.
        if (!/my-skill\/|push/.test(code)) await store(url)
        const { stdout } = await runExample(language, at(url, code), { cwd, env })
        assertShown(stripVTControlCharacters(stdout), answer)
      })
    }
  }
})

test('the settings of MCP clients lead to the service, with a key where it asks for one', async (t) => {
  const key = 'a-key-of-those-who-use-it'
  const { url } = await startService(t, { env: { ADMIN_KEY: key } })
  const examples = examplesIn(page, ['json'])
  const [, headers = ''] = /`("headers": \{.+?\})`/.exec(page) ?? []
  const { requestInit } = JSON.parse(`{"requestInit": {${headers.replace('…', key)}}}`)

  assert.equal(examples.length, 2)
  for (const { code } of examples) {
    const [servers] = Object.values<Servers>(JSON.parse(at(url, code)))
    assert.equal(servers?.loadskill.type, 'http')
    const address = new URL(servers.loadskill.url)
    const connect = async (options = {}) => {
      const client = new Client({ name: 'test', version: '1' })
      t.after(() => client.close())
      await client.connect(new StreamableHTTPClientTransport(address, options))
      return client
    }
    await assert.rejects(connect(), /unauthenticated/)
    assert.equal((await connect({ requestInit })).getServerVersion()?.name, 'loadskill')
  }
})

test('the README names every client of the page, and uses it in the same way', () => {
  const rows = [...readme.matchAll(/^\| \[.+\]\((docs\/clients\.md#.+?)\).* \| (.*) \|$/gm)]
  assert.equal(rows.length, sections.length)
  assert.equal(new Set(rows.map(([, link]) => link)).size, sections.length)
  for (const [, , use = ''] of rows) {
    const [, code = ''] = /^`(.+?)`/.exec(use) ?? []
    assert.ok(code && page.includes(code), use)
  }
})

test('every part of the page has an example that is run, and its links lead somewhere', async () => {
  const languages = [...page.matchAll(/^```(\w+)$/gm)].map(([, language]) => language)
  assert.deepEqual([...new Set(languages)].sort(), ['js', 'json', 'sh', 'text'])
  assert.ok(sections.length >= 8)
  for (const { title, text } of sections) assert.ok(examplesIn(text, ['js', 'sh']).length, title)
  await assertLinks('docs', page)
})

interface Servers {
  loadskill: { type: string; url: string }
}

const store = async (url: string) => {
  const headers = { 'content-type': 'text/markdown' }
  const sent = { method: 'POST', headers, body: skillMd('my-skill') }
  assert.equal((await fetch(`${url}/api/v1/skills`, sent)).status, 201)
}

interface Options {
  cwd: string
  env: Record<string, string>
}

async function runExample(language: string, code: string, options: Options) {
  if (language === 'sh') return run('sh', ['-ec', code], options)
  await writeFile(join(options.cwd, 'example.mjs'), code)
  return run(process.execPath, ['example.mjs'], options)
}
