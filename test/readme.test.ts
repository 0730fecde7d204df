import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, constants, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Config } from '../src/config.ts'
import { skillMd } from './build-app.ts'
import { assertLinks, assertShown, at, readPage as read, shellExamples } from './pages.ts'
import { ROOT, startService, until } from './run-service.ts'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)

const readme = await read('README.md')
const agents = await read('docs/agents.md')
const settings = await read('docs/settings.md')
const dockerfile = await read('Dockerfile')
const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }

const examples = [readme, agents].flatMap(shellExamples)

/** What a test cannot do, why, and what it looks at instead. */
const NOT_RUN: [command: RegExp, why: string, check: (command: string) => Promise<void> | void][] =
  [
    [/^npm ci$/, 'it installs packages', () => access(join(ROOT, 'package-lock.json'))],
    [/^npm (run )?[\w-]+$/, 'it is a program of its own', checkScript],
    [
      /^TEST_POSTGRES_URL=\$\(\.ci\/postgres start [\w./]+\) npm test$/,
      'it is what runs this',
      checkPostgres,
    ],
    [/^\.ci\/postgres stop [\w./]+$/, 'it ends what the tests run on', checkPostgres],
    [/^docker build /, 'it needs Docker', checkBuild],
    [/^docker run /, 'it needs Docker', checkRun],
  ]
const cannotRun = (line: string) => NOT_RUN.find(([command]) => command.test(line))
const runWithKey = (line: string) => /^export ADMIN_KEY=|ADMIN_KEY"$/.test(line)
const linesOf = (commands: string) =>
  commands
    .trimEnd()
    .split(/\n| && /)
    .map((line) => line.replace(/ +# .*$/, ''))

test('every command of the pages answers what they show', async (t) => {
  const folder = await tempFolder(t)
  const env = {
    DATABASE_URL: `sqlite:${join(folder, 'skills.db')}`,
    SKILLS_DIR: join(ROOT, 'skills'),
  }
  await mkdir(join(folder, 'my-skill/scripts'), { recursive: true })
  await writeFile(join(folder, 'my-skill/SKILL.md'), skillMd('my-skill'))
  await writeFile(join(folder, 'my-skill/scripts/run.sh'), 'echo hi\n')
  const { url } = await startService(t, { env })
  await until(async () => (await fetch(`${url}/ready`)).ok)

  const shown = examples.filter(({ commands }) => !linesOf(commands).some(cannotRun))
  assert.ok(shown.length >= 5)
  for (const { commands, answer } of shown) {
    const { stdout } = await run('sh', ['-ec', at(url, commands)], { cwd: folder })
    assert.ok(answer, `an answer is shown to: ${commands}`)
    assertShown(stdout, answer)
  }
})

test('what a test cannot run of the pages is there', async (t) => {
  const others = examples
    .map(({ commands }) => linesOf(commands))
    .filter((all) => all.some(cannotRun))
  for (const line of others.flat().filter((line) => !runWithKey(line))) {
    const [, why, check] = cannotRun(line) ?? assert.fail(`nothing checks: ${line}`)
    t.diagnostic(`not run, for ${why}: ${line}`)
    await check(line)
  }
})

test('a service with the settings of the Dockerfile is healthy and asks for the key of the README', async (t) => {
  const docker = examples.find(({ commands }) => commands.startsWith('docker build'))
  const [setKey, ask, ...more] = linesOf(docker?.commands ?? '').filter(runWithKey)
  assert.ok(setKey && ask && more.length === 0)
  const { stdout: key } = await run('sh', ['-ec', `${setKey}; printf %s "$ADMIN_KEY"`])

  const folder = await tempFolder(t)
  const inFolder = (value: string) => value.replace(/(?<=^|:)\/(?=data|skills)/, `${folder}/`)
  const image = Object.entries(imageSettings()).map(([name, value]) => [name, inFolder(value)])
  const env = { ...Object.fromEntries(image), PORT: '0', ADMIN_KEY: key }
  assert.equal(env.HOST, '0.0.0.0')
  const { url: address } = await startService(t, { env })
  const { port } = new URL(address)
  const url = `http://127.0.0.1:${port}`

  assert.equal((await fetch(`${url}/api/v1/catalog`)).status, 401)
  const { stdout } = await run('sh', ['-ec', at(url, ask)], {
    env: { ...process.env, ADMIN_KEY: key },
  })
  assert.equal(stdout, '(no skills available)')

  const [, health = '[]'] =
    /^HEALTHCHECK [^[]+(\[.+\])$/m.exec(dockerfile.replaceAll('\\\n', '')) ?? []
  const [program, ...args] = JSON.parse(health) as string[]
  assert.equal(program, 'node')
  await run(process.execPath, args, { env: { PORT: port } })
  await assert.rejects(run(process.execPath, args, { env: { PORT: '1' } }))
})

test('the hook of the README is one', async (t) => {
  const [, hook = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readme) ?? []
  const path = join(await tempFolder(t), 'office-hours.mjs')
  await writeFile(path, hook)
  const { url } = await startService(t, { env: { HOOKS: path, DATABASE_URL: 'sqlite::memory:' } })
  assert.ok((await fetch(`${url}/health`)).ok)
})

test('the table of settings is the schema of the settings', () => {
  const schema: Record<string, Setting> = JSON.parse(JSON.stringify(Config.properties))
  const rows = settings.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))
  assert.deepEqual(rows, Object.entries(schema).map(toRow))
})

test('the README is under 150 lines, and the links of the pages lead somewhere', async () => {
  assert.ok(readme.trimEnd().split('\n').length < 150)
  await assertLinks('', readme)
  await assertLinks('docs', agents)
  await assertLinks('docs', settings)
  await assertLinks('docs', await read('docs/cli.md'))
  await assertLinks('docs', await read('docs/operations.md'))
})

interface Setting {
  default?: unknown
  description?: string
  enum?: string[]
}

function toRow([name, setting]: [string, Setting]): string {
  const { description = '', enum: values = [] } = setting
  const standard = setting.default === undefined ? '' : `\`${setting.default}\``
  const named = values.every((value) => description.includes(value))
  const choice = named ? '' : ` (${values.map((value) => `\`${value}\``).join(', ')})`
  return `| \`${name}\` | ${standard} | ${description}${choice} |`
}

function checkScript(command: string): void {
  const name = command.split(' ').at(-1) ?? ''
  assert.ok(scripts[name], `package.json has no script "${name}"`)
}

async function checkPostgres(command: string): Promise<void> {
  assert.ok(scripts.test)
  await access(join(ROOT, '.ci/postgres'), constants.X_OK)
  const verb = / (start|stop) /.exec(command)?.[1]
  assert.match(await read('.ci/postgres'), new RegExp(`^ +${verb}\\)$`, 'm'))
}

async function checkBuild(): Promise<void> {
  const sent = (await read('.dockerignore')).split('\n')
  assert.equal(sent[0], '*')
  for (const [, list = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const path of list.split(' ')) {
      await access(join(ROOT, path))
      const allowed = sent.some(
        (line) =>
          line === `!${path}` || (line === '!tsconfig*.json' && /^tsconfig.*\.json$/.test(path)),
      )
      assert.ok(allowed, `.dockerignore leaves out ${path}`)
    }
  }
  assert.match(dockerfile, /^USER node$/m)
}

function checkRun(command: string): void {
  const settings = imageSettings()
  const [, port] = /-p \d+:(\d+)/.exec(command) ?? []
  assert.equal(port, settings.PORT)
  assert.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'))
  const mounts = [...command.matchAll(/-v [^:]+:([^: ]+)/g)].map(([, path]) => path)
  const [, volume] = /^VOLUME (.+)$/m.exec(dockerfile) ?? []
  assert.deepEqual(mounts, [volume, settings.SKILLS_DIR])
  for (const [, name = ''] of command.matchAll(/-e (\w+)/g)) assert.ok(name in Config.properties)
}

function imageSettings(): Record<string, string> {
  const [, settings = ''] = /^ENV (.+)$/m.exec(dockerfile) ?? []
  return Object.fromEntries(settings.split(' ').map((setting) => setting.split('=', 2)))
}
