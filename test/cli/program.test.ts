import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { ROOT, until } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import { noTerminal, runCli, runJson, serve, spawnCli, spawnInTerminal } from './run-cli.ts'

const COMMANDS = [
  'serve',
  'push',
  'pull',
  'list',
  'show',
  'search',
  'validate',
  'diff',
  'rollback',
  'chat',
  'import',
  'export',
  'keys',
  'doctor',
]
const ADMIN_KEY = 'an-admin-key-of-a-test'
const NOWHERE = { LOADSKILL_URL: 'http://127.0.0.1:1' }

test('--help lists the commands, the exit codes and the environment', async (t) => {
  const { code, stdout } = await runCli(t, ['--help'])

  assert.equal(code, 0)
  for (const command of COMMANDS) assert.match(stdout, new RegExp(`^ {2}${command} `, 'm'))
  for (const exit of [0, 1, 2, 3, 4, 5, 130])
    assert.match(stdout, new RegExp(`^ {2}${exit} +\\w`, 'm'))
  for (const name of ['LOADSKILL_URL', 'LOADSKILL_KEY', 'NO_COLOR'])
    assert.ok(stdout.includes(name))
})

test('every command has a help of its own, with the options that all share', async (t) => {
  for (const command of COMMANDS) {
    const { code, stdout } = await runCli(t, [command, '--help'])
    assert.equal(code, 0, command)
    assert.match(stdout, new RegExp(`^Usage: loadskill ${command}`))
    assert.match(stdout, /--json/)
  }
})

test('a wrong command line ends with 2, and says what is wrong', async (t) => {
  const wrong: [args: string[], told: RegExp][] = [
    [['lsit'], /unknown command 'lsit'[\s\S]*list/],
    [['list', '--colour'], /unknown option '--colour'/],
    [['show'], /missing required argument 'name'/],
    [['diff', 'pdf', 'one', '2'], /'one' is invalid.*number of a version/],
    [['pull', 'pdf'], /Name the skills and then the folder/],
    [['push', 'not-there'], /There is no "not-there"\./],
    [['--url', 'localhost:3000', 'list'], /LOADSKILL_URL is "localhost:3000"/],
  ]
  for (const [args, told] of wrong) {
    const { code, stdout, stderr } = await runCli(t, args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, told)
    assert.equal(stdout, '')
  }
})

test('a service that is not there is one plain line, and 3', async (t) => {
  for (const args of [
    ['list'],
    ['show', 'pdf'],
    ['chat', 'Hello'],
    ['rollback', 'pdf', '1'],
    ['push', 'skills'],
    ['pull', 'pdf', '.'],
  ]) {
    const { code, stdout, stderr } = await runCli(t, args, { env: NOWHERE })
    assert.equal(code, 3, args.join(' '))
    assert.match(stderr, /^loadskill: http:\/\/127\.0\.0\.1:1[^\n]* Nothing answers: [^\n]+\n$/)
    assert.equal(stdout, '')
  }
})

test('a server that is no loadskill is told as such', async (t) => {
  const server = createServer((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const env = { LOADSKILL_URL: `http://127.0.0.1:${address.port}` }

  const { code, stderr } = await runCli(t, ['list'], { env })
  assert.equal(code, 5)
  assert.match(stderr, /^loadskill: The service answered 502 Bad Gateway, which is no answer/)
})

test('only the environment that a command is given counts', async (t) => {
  const { env } = await serve(t, { SKILLS_DIR: join(ROOT, 'skills') })
  const before = process.env
  process.env = { ...before, ...NOWHERE, LOADSKILL_KEY: 'two words', FORCE_COLOR: '1' }
  t.after(() => {
    process.env = before
  })

  const { code, stdout, stderr } = await runCli(t, ['list'], { env })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^NAME/)
  const chosen = await runCli(t, ['list', '--url', env.LOADSKILL_URL], { env: NOWHERE })
  assert.equal(chosen.code, 0)
})

test('a command that has ended no longer listens for Ctrl-C', async (t) => {
  const { env } = await serve(t)
  const before = process.listenerCount('SIGINT')

  assert.equal((await runCli(t, ['list'], { env })).code, 0)
  assert.equal((await runCli(t, ['show', 'nothing'], { env })).code, 5)
  assert.equal((await runCli(t, ['list'], { env: NOWHERE })).code, 3)
  assert.equal(process.listenerCount('SIGINT'), before)
})

test('a key that is missing or wrong ends with 4, and says what to do', async (t) => {
  const { env } = await serve(t, { ADMIN_KEY })

  const without = await runCli(t, ['list'], { env })
  assert.equal(without.code, 4)
  assert.match(without.stderr, /\(unauthenticated, 401\)\nSet LOADSKILL_KEY\.\n$/)
  const wrong = await runCli(t, ['list'], { env: { ...env, LOADSKILL_KEY: 'not-the-key' } })
  assert.equal(wrong.code, 4)
  assert.match(wrong.stderr, /Check LOADSKILL_KEY/)
  assert.ok(!wrong.stderr.includes('not-the-key'))
  const right = await runCli(t, ['list'], { env: { ...env, LOADSKILL_KEY: `${ADMIN_KEY}\n` } })
  assert.deepEqual([right.code, right.stdout], [0, '0 skills.\n'])
})

test('a key that no header can hold is not sent', async (t) => {
  const { code, stderr } = await runCli(t, ['list'], { env: { LOADSKILL_KEY: 'two words' } })

  assert.equal(code, 2)
  assert.match(stderr, /^loadskill: LOADSKILL_KEY holds blanks/)
})

test('a name that is not there brings the nearest ones', async (t) => {
  const { env } = await serve(t, { SKILLS_DIR: join(ROOT, 'skills') })

  const { code, stderr } = await runCli(t, ['show', 'pfd'], { env })
  assert.equal(code, 5)
  assert.match(stderr, /\(skill_not_found, 404\)\nDid you mean pdf\?\n$/)
})

test('keys on a service without their routes is one plain line', async (t) => {
  const { env } = await serve(t)

  for (const args of [['list'], ['create', 'ci', '--scope', 'skills:write'], ['delete', 'key_1']]) {
    const { code, stderr } = await runCli(t, ['keys', ...args], { env })
    assert.equal(code, 5)
    assert.match(stderr, /^loadskill: The service at \S+ does not manage keys over HTTP[^\n]+\n$/)
  }
})

test('doctor says what is right and what is not', async (t) => {
  const { env } = await serve(t, { ADMIN_KEY })
  interface Report {
    ok: boolean
    checks: { name: string; ok: boolean; detail: string }[]
  }

  const fine = { ...env, LOADSKILL_KEY: ADMIN_KEY }
  const { code, stdout } = await runCli(t, ['doctor'], { env: fine })
  assert.equal(code, 0)
  for (const name of ['node', 'service', 'database', 'model', 'key']) {
    assert.match(stdout, new RegExp(`^✓ ${name} `, 'm'))
  }
  const refused = await runJson<Report>(t, ['doctor'], { env })
  assert.deepEqual([refused.code, refused.answer.ok], [1, false])
  assert.deepEqual(
    refused.answer.checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ['key'],
  )
  const nowhere = await runCli(t, ['doctor'], { env: NOWHERE })
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stdout, /^✗ service +http:\S+ Nothing answers: /m)
})

test('colours are for terminals, and not where NO_COLOR is set', {
  skip: noTerminal,
}, async (t) => {
  const { env } = await serve(t, { SKILLS_DIR: join(ROOT, 'skills') })
  const ESCAPE = '\u001b['

  const piped = await runCli(t, ['list'], { env })
  assert.ok(!piped.stdout.includes(ESCAPE))
  const coloured = spawnInTerminal(t, ['list'], { env })
  await coloured.ended
  assert.ok(coloured.said.stdout.includes(`${ESCAPE}1mNAME`), coloured.said.stdout)
  const plain = spawnInTerminal(t, ['list'], { env: { ...env, NO_COLOR: '1' } })
  await plain.ended
  assert.ok(!plain.said.stdout.includes(ESCAPE), plain.said.stdout)
  assert.match(plain.said.stdout, /^NAME/)
})

test('serve starts the service, which ends with 0 on SIGTERM', async (t) => {
  const env = { MODEL: 'offline', DATABASE_URL: 'sqlite::memory:', SKILLS_DIR: '', PORT: '1' }
  const skills = join(ROOT, 'skills')
  const { child, ended, said } = spawnCli(t, ['serve', '--port', '0', '--skills', skills], { env })
  const url = await until(() => /listens on (http:\S+)/.exec(said.stdout)?.[1])

  const ready = await until(async () => {
    const response = await fetch(`${url}/ready`)
    return response.ok ? response : undefined
  })
  await ready.text()
  const { stdout } = await runCli(t, ['list'], { env: { LOADSKILL_URL: url } })
  assert.match(stdout, /^7 skills\.$/m)
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})

test('the built program runs by its name, and an older Node is told that it is too old', async (t) => {
  const folder = await tempFolder(t)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const config = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]
  const built = spawnSync(process.execPath, [compiler, ...config], { encoding: 'utf8' })
  assert.equal(built.status, 0, built.stdout)
  const entry = join(folder, 'dist/cli.js')

  const version = await runCli(t, ['--version'], { entry })
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
  const checked = await runCli(t, ['validate', join(ROOT, 'skills')], { entry })
  assert.deepEqual([checked.code, checked.stderr], [0, ''])

  const node = findOldNode()
  if (!node) return t.diagnostic('no older Node is in the PATH')
  const old = await runCli(t, ['--version'], { entry, node })
  assert.equal(old.code, 1)
  assert.match(old.stderr, /^loadskill needs Node 22\.19 or newer, and this is [\d.]+\.\n$/)
})

function findOldNode(): string | undefined {
  const program =
    '[major, minor] = process.versions.node.split("."); major < 22 || major == 22 && minor < 19'
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((node) => spawnSync(node, ['-p', program], { encoding: 'utf8' }).stdout === 'true\n')
}
