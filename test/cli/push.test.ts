import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { writeArchive } from '../../src/registry/archives/write-archive.ts'
import { get, skillMd } from '../build-app.ts'
import { ROOT, until } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import {
  BROKEN,
  noTerminal,
  runCli,
  runJson,
  serve,
  spawnCli,
  spawnInTerminal,
  writeFiles,
} from './run-cli.ts'

interface Fault {
  code: string
  file: string
  line?: number
}
interface Report {
  results: {
    path: string
    name: string | null
    status: string
    errors: Fault[]
    warnings: Fault[]
  }[]
  created: number
  updated: number
  unchanged: number
  failed: number
}

test('push stores what is valid, and tells of the rest by line', async (t) => {
  const { app, env } = await serve(t)
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'skills/greet/SKILL.md': skillMd('greet'),
    'skills/greet/scripts/hello.sh': 'echo hello\n',
    'skills/release-notes/SKILL.md': BROKEN,
  })
  const push = (...args: string[]) => runCli(t, ['push', ...args], { env, cwd })

  const first = await push('skills')
  assert.equal(first.code, 1)
  assert.deepEqual(first.stdout.split('\n'), [
    'created    greet (skills/greet/SKILL.md)',
    'failed     skills/release-notes/SKILL.md',
    'skills/release-notes/SKILL.md:3:14: error frontmatter_yaml: the value of "description" holds ": " and must be quoted: put it between double quotes.',
    '2 skills: 1 created, 0 updated, 0 unchanged, 1 failed.',
    '',
  ])
  assert.equal((await get(app, '/skills/greet/files/scripts/hello.sh')).body, 'echo hello\n')

  const again = await push('skills/greet')
  assert.deepEqual(
    [again.code, again.stdout],
    [0, '1 skill: 0 created, 0 updated, 1 unchanged, 0 failed.\n'],
  )
  await writeFile(join(cwd, 'skills/greet/SKILL.md'), skillMd('greet', 'Say good day.'))
  const changed = await push('skills/greet/SKILL.md', '--note', 'politer')
  assert.match(changed.stdout, /^updated +greet /)
  const { note, file_count } = (await get(app, '/skills/greet/versions/2')).json()
  assert.deepEqual([note, file_count], ['politer', 1])
})

test('push takes files and archives, strictly or leniently', async (t) => {
  const { env } = await serve(t)
  const cwd = await tempFolder(t)
  const packed = await buffer(
    writeArchive('zip', [
      { path: 'one/SKILL.md', bytes: Buffer.from(skillMd('one')) },
      { path: 'two/SKILL.md', bytes: Buffer.from(BROKEN) },
    ]),
  )
  await writeFiles(cwd, {
    'all.zip': packed,
    'My notes.md': '# Notes\n\nKeeps notes. Use when asked.\n',
  })

  const strict = await runJson<Report>(t, ['push', 'all.zip', 'My notes.md'], { env, cwd })
  assert.equal(strict.code, 1)
  assert.deepEqual(
    strict.answer.results.map(({ path, name, status, errors }) => [
      path,
      name,
      status,
      errors.map(({ code, file, line }) => [code, file, line]),
    ]),
    [
      ['all.zip/one/SKILL.md', 'one', 'created', []],
      ['all.zip/two/SKILL.md', null, 'failed', [['frontmatter_yaml', 'all.zip/two/SKILL.md', 3]]],
      ['My notes.md', null, 'failed', [['frontmatter_missing', 'My notes.md', 1]]],
    ],
  )
  const lenient = await runJson<Report>(t, ['push', '--lenient', 'all.zip', 'My notes.md'], {
    env,
    cwd,
  })
  assert.equal(lenient.code, 0)
  assert.deepEqual(
    lenient.answer.results.map(({ name, status }) => [name, status]),
    [
      ['one', 'unchanged'],
      ['release-notes', 'created'],
      ['my-notes', 'created'],
    ],
  )
})

test('two skills of one name do not overwrite each other', async (t) => {
  const { app, env } = await serve(t)
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'a/greet/SKILL.md': skillMd('greet', 'Say hello.'),
    'b/greet/SKILL.md': skillMd('greet', 'Say good day.'),
  })

  const { code, stdout } = await runCli(t, ['push', '.'], { env, cwd })
  assert.equal(code, 1)
  assert.match(stdout, /^b\/greet\/SKILL\.md:1:1: error name_conflict: the skill at "a\/greet/m)
  assert.equal((await get(app, '/skills/greet/content')).body, skillMd('greet', 'Say hello.'))
})

test('what the service refuses as a whole stops no other skill', async (t) => {
  const { env } = await serve(t, { MAX_IMPORT_BYTES: '1000' })
  const cwd = await tempFolder(t)
  const noise = randomBytes(5000)
  await writeFiles(cwd, {
    'a/SKILL.md': skillMd('a'),
    'a/noise.bin': noise,
    'b/SKILL.md': skillMd('b'),
  })

  const { code, stdout } = await runCli(t, ['push', '.'], { env, cwd })
  assert.equal(code, 1)
  assert.match(stdout, /^a\/SKILL\.md:1:1: error body_too_large: /m)
  assert.match(stdout, /^created +b /m)
})

test('--dry-run stores nothing, and a missing key ends with 4', async (t) => {
  const { app, env } = await serve(t, { ADMIN_KEY: 'an-admin-key-of-a-test' })
  const cwd = join(ROOT, 'skills')
  const key = { LOADSKILL_KEY: 'an-admin-key-of-a-test' }

  const refused = await runCli(t, ['push', 'pdf'], { env, cwd })
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /unauthenticated/)
  const dry = await runCli(t, ['push', 'pdf', '--dry-run'], { env: { ...env, ...key }, cwd })
  assert.match(dry.stdout, /^created +pdf /)
  const headers = { 'x-api-key': key.LOADSKILL_KEY }
  assert.equal((await get(app, '/skills/pdf', headers)).statusCode, 404)
})

test('warnings are counted, and shown when asked for', async (t) => {
  const { env } = await serve(t)
  const cwd = await tempFolder(t)
  await writeFiles(cwd, { 'other/SKILL.md': skillMd('greet') })

  const silent = await runCli(t, ['push', 'other'], { env, cwd })
  assert.match(silent.stdout, /^1 warning: --warnings shows them\.$/m)
  const told = await runCli(t, ['push', 'other', '--warnings'], { env, cwd })
  assert.match(told.stdout, /^other\/SKILL\.md:2:\d+: warning name_folder: /m)
})

test('a terminal shows how far it is', { skip: noTerminal }, async (t) => {
  const { env } = await serve(t)

  const { ended, said } = spawnInTerminal(t, ['push', 'skills'], { env })
  assert.deepEqual(await ended, [0, null])
  assert.match(said.stdout, /Storing █+ 7\/7/)
  assert.match(said.stdout, /7 skills: 7 created/)
})

test('--watch stores what changes, until Ctrl-C', { timeout: 120_000 }, async (t) => {
  const { app, env } = await serve(t)
  const cwd = await tempFolder(t)
  await writeFiles(cwd, { 'greet/SKILL.md': skillMd('greet') })
  const { child, ended, said } = spawnCli(t, ['push', '.', '--watch'], { env, cwd })
  const told = (line: RegExp) => until(() => line.test(said.stdout))

  await until(() => /^Watching/m.test(said.stderr))
  await told(/^created +greet /m)
  await writeFiles(cwd, { 'greet/SKILL.md': skillMd('greet', 'Say good day.') })
  await told(/^updated +greet /m)
  await writeFiles(cwd, { 'deep/part/SKILL.md': skillMd('part') })
  await told(/^created +part \(deep\/part\/SKILL\.md\)$/m)
  await writeFiles(cwd, { 'greet/SKILL.md': BROKEN })
  await told(/^greet\/SKILL\.md:3:14: error frontmatter_yaml/m)
  assert.equal((await get(app, '/skills/greet/content')).body, skillMd('greet', 'Say good day.'))
  await rm(join(cwd, 'greet'), { recursive: true })
  await writeFiles(cwd, { 'deep/part/SKILL.md': skillMd('part', 'Say bye.') })
  await told(/^updated +part /m)
  child.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
  assert.equal(said.stdout.match(/^updated/gm)?.length, 2, said.stdout)
})

const CORPUS = join(ROOT, '../shared/corpus')
const missing = !existsSync(join(CORPUS, 'index.json'))
const skip = missing && !process.env.CI ? `${CORPUS} is not there` : false

interface Row {
  path: string
  expect: { strict: 'ok' | 'error'; codes: string[]; codes_alt?: string[]; name?: string | null }
}

test('the whole corpus is stored, or refused by line, as its index says', { skip }, async (t) => {
  const { app, env } = await serve(t)
  const rows: Row[] = JSON.parse(readFileSync(join(CORPUS, 'index.json'), 'utf8'))
  const rowsByPath = new Map(rows.map((row) => [join('corpus', row.path), row]))

  const run = { env, cwd: join(CORPUS, '..') }
  const { answer, code } = await runJson<Report>(t, ['push', 'corpus'], run)
  assert.equal(code, 1)
  assert.equal(answer.results.length, rows.length)
  assert.ok(answer.created > 290, `${answer.created} created`)
  assert.deepEqual([answer.updated, answer.created + answer.failed], [0, rows.length])
  const names = new Set<string>()
  for (const { path, name, status, errors } of answer.results) {
    const row = rowsByPath.get(path)
    assert.ok(row, path)
    const codes = errors.map((error) => error.code)
    assert.ok(
      errors.every(({ file }) => file === path),
      path,
    )
    if (status === 'created') {
      assert.deepEqual([row.expect.strict, name], ['ok', row.expect.name], path)
      names.add(name ?? '')
      const stored = await get(app, `/skills/${name}/content`)
      assert.ok(stored.rawPayload.equals(await readFile(join(CORPUS, row.path))), path)
    } else if (codes.includes('name_conflict')) {
      assert.ok(names.has(row.expect.name ?? ''), path)
    } else {
      const { codes: wanted, codes_alt = [] } = row.expect
      const fits = wanted.length > 0 && wanted.every((one) => codes.includes(one))
      assert.ok(fits || codes_alt.some((one) => codes.includes(one)), `${path}: ${codes}`)
    }
  }
})
