import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Answer, stream } from './agent/fake-provider.ts'
import { messageStart, messageStop, textBlock } from './agent/wire.ts'
import { skillMd } from './build-app.ts'
import { json, markdown, ROOT, spawnService, startService, until } from './run-service.ts'
import { say, scriptedModel } from './scripted-model.ts'
import { tempFolder } from './temp-folder.ts'

test('a skill outlives the process, which ends with 0 on SIGTERM', async (t) => {
  const env = { DATABASE_URL: `sqlite:${join(await tempFolder(t), 'skills.db')}` }

  const first = await startService(t, { env })
  const published = await fetch(`${first.url}/api/v1/skills`, markdown(skillMd('greet')))
  assert.equal(published.status, 201)
  assert.equal(await first.stop(), 0)

  const second = await startService(t, { env })
  const content = await fetch(`${second.url}/api/v1/skills/greet/content`)
  assert.equal(await content.text(), skillMd('greet'))
  assert.equal(await second.stop(), 0)
})

test('a wrong setting stops the start with one line that names it', async (t) => {
  const wrong: [name: string, env: Record<string, string>][] = [
    ['PORT', { PORT: '2.5' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://localhost/skills' }],
    ['AUTH', { HOST: '0.0.0.0', AUTH: 'open' }],
  ]
  await Promise.all(
    wrong.map(async ([name, env]) => {
      const { ended, said } = spawnService(t, { env })
      assert.deepEqual(await ended, [1, null])
      assert.match(said.stderr, new RegExp(`^loadskill cannot start: ${name} [^\\n]+\\n$`))
      assert.equal(said.stdout, '')
    }),
  )
})

test('the first start with AUTH=keys writes an admin key that only its owner can read', async (t) => {
  const folder = await tempFolder(t)
  const env = { AUTH: 'keys', DATABASE_URL: `sqlite:${join(folder, 'skills.db')}` }
  const { url, said } = await startService(t, { env })

  const path = join(folder, 'admin-key')
  assert.ok(said.stdout.includes(JSON.stringify(path)), 'the log says where it is')
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const key = (await readFile(path, 'utf8')).trim()
  assert.ok(!said.stdout.includes(key), 'the log does not say it')
  const skills = `${url}/api/v1/skills`
  assert.equal((await fetch(skills)).status, 401)
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await fetch(skills, { headers })).status, 200)
})

test('the address is printed however little is logged', async (t) => {
  const { url, said } = await startService(t, { env: { LOG_LEVEL: 'warn' } })

  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.doesNotMatch(said.stdout, /"level"/)
})

test('a file that is no database stops the start and stays as it was', async (t) => {
  const folder = await tempFolder(t)
  const damaged = Buffer.alloc(8192, 0x5a)
  damaged.write('SQLite format 3\0', 'latin1')
  const files: [name: string, bytes: Buffer][] = [
    ['notes.txt', Buffer.from('These are notes, and no database at all.\n'.repeat(40))],
    ['damaged.db', damaged],
  ]
  await Promise.all(
    files.map(async ([name, bytes]) => {
      const path = join(folder, name)
      await writeFile(path, bytes)
      const { ended, said } = spawnService(t, { env: { DATABASE_URL: `sqlite:${path}` } })

      assert.deepEqual(await ended, [1, null])
      assert.match(said.stderr, /^loadskill cannot start: [^\n]+\n$/)
      assert.ok(said.stderr.includes(path), said.stderr)
      assert.deepEqual(await readFile(path), bytes)
    }),
  )
})

test('SIGTERM lets a turn that runs come to its end, and takes no more', async (t) => {
  const { asked, answer, release } = heldAnswer()
  const { env } = await scriptedModel(t, answer)
  const { url, kill, ended } = await startService(t, { env })

  const turn = fetch(`${url}/api/v1/chat`, json({ message: 'Hello', stream: true }))
  await asked
  kill('SIGTERM')
  const refused = await until(async () => {
    const response = await fetch(`${url}/health`)
    return response.status === 503 ? response : undefined
  })
  assert.equal(((await refused.json()) as { code: string }).code, 'shutting_down')
  release()

  const [name, data] = lastEvent(await (await turn).text())
  assert.equal(name, 'turn.finished')
  assert.equal(data.output, 'One moment.')
  assert.deepEqual(await ended, [0, null])
})

test('a connection that never asked for anything does not hold up the end', {
  timeout: 20_000,
}, async (t) => {
  const { url, stop } = await startService(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  assert.ok((await fetch(`${url}/health`)).ok, 'what came after it was taken')

  assert.equal(await stop(), 0)
})

test('SIGTERM ends a turn that takes longer than the grace, and says so', async (t) => {
  const { asked, answer } = heldAnswer()
  const { env } = await scriptedModel(t, answer, say('Again.'))
  const database = `sqlite:${join(await tempFolder(t), 'skills.db')}`
  const started = { env: { ...env, DATABASE_URL: database, SHUTDOWN_GRACE_MS: '200' } }
  const first = await startService(t, started)

  const turn = fetch(`${first.url}/api/v1/chat`, json({ message: 'Hello', stream: true }))
  await asked
  assert.equal(await first.stop(), 0)
  const [name, data] = lastEvent(await (await turn).text())
  assert.equal(name, 'error')
  assert.equal(data.code, 'shutting_down')

  await goesOn(t, started, data.conversation_id)
})

test('a process that was killed leaves its turn interrupted and the conversation usable', async (t) => {
  const { asked, answer } = heldAnswer()
  const { env } = await scriptedModel(t, answer, say('Again.'))
  const database = `sqlite:${join(await tempFolder(t), 'skills.db')}`
  const started = { env: { ...env, DATABASE_URL: database } }
  const first = await startService(t, started)

  const turn = fetch(`${first.url}/api/v1/chat`, json({ message: 'Hello' })).catch(() => 'cut')
  await asked
  const listed = await fetch(`${first.url}/api/v1/conversations`)
  const { data } = (await listed.json()) as { data: { id: string }[] }
  first.kill('SIGKILL')
  await first.ended
  assert.equal(await turn, 'cut')

  await goesOn(t, started, data[0]?.id)
})

test('the built service starts, and an older Node is told in one line that it is too old', async (t) => {
  const folder = await tempFolder(t)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await symlink(join(ROOT, 'migrations'), join(folder, 'migrations'))
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const config = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]
  const built = spawnSync(process.execPath, [compiler, ...config], { encoding: 'utf8' })
  assert.equal(built.status, 0, built.stdout)
  const entry = join(folder, 'dist/server.js')
  const cwd = join(folder, 'elsewhere')
  await mkdir(cwd)

  const { stop } = await startService(t, { entry, cwd })
  assert.equal(await stop(), 0)

  const node = findOldNode()
  if (!node) return t.diagnostic('no older Node is in the PATH')
  const { ended, said } = spawnService(t, { entry, cwd, node })
  assert.deepEqual(await ended, [1, null])
  assert.match(said.stderr, /^loadskill needs Node 22\.19 or newer, and this is [\d.]+\.\n$/)
})

/** An answer of a model that has begun, and goes on when it is released. */
function heldAnswer() {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const answer: Answer = (response) => {
    stream([messageStart, ...textBlock(0, 'One ', 'moment.')], 'hang')(response)
    void released.promise.then(() => {
      const end = messageStop('end_turn').map((event) => `data: ${JSON.stringify(event)}\n\n`)
      response.end(end.join(''))
    })
    asked.resolve()
  }
  return { asked: asked.promise, answer, release: released.resolve }
}

interface LastEvent {
  output?: string
  code?: string
  conversation_id?: string
}

function lastEvent(text: string): [name: string | undefined, data: LastEvent] {
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  const [, name, data = '{}'] = /^event: (.+)\ndata: (.+)$/m.exec(last) ?? []
  return [name, JSON.parse(data)]
}

/** The last turn is interrupted, and the conversation takes the next message. */
async function goesOn(
  t: TestContext,
  started: { env: Record<string, string> },
  conversation_id: string | undefined,
) {
  assert.ok(conversation_id)
  const { url, stop } = await startService(t, started)
  const listed = await fetch(`${url}/api/v1/conversations/${conversation_id}/turns`)
  const { data } = (await listed.json()) as { data: { status: string }[] }
  assert.deepEqual(
    data.map(({ status }) => status),
    ['interrupted'],
  )
  const next = await fetch(`${url}/api/v1/chat`, json({ conversation_id, message: 'Once more' }))
  const turn = (await next.json()) as { status: string; output: string }
  assert.deepEqual([turn.status, turn.output], ['completed', 'Again.'])
  assert.equal(await stop(), 0)
}

function findOldNode(): string | undefined {
  const program =
    '[major, minor] = process.versions.node.split("."); major < 22 || major == 22 && minor < 19'
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((node) => spawnSync(node, ['-p', program], { encoding: 'utf8' }).stdout === 'true\n')
}
