import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { publish, put, skillMd } from '../build-app.ts'
import { ROOT } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import { runCli, runJson, serve, writeFiles } from './run-cli.ts'

interface Skill {
  name: string
  version: number
  latest_version: number
  score?: number
}

/** A service with three versions of the skill "greet". */
async function serveVersions(t: Parameters<typeof serve>[0]) {
  const { app, env } = await serve(t)
  await publish(app, skillMd('greet', 'Say hello.'))
  await put(app, 'greet', skillMd('greet', 'Say good day.'))
  await put(app, 'greet', skillMd('greet', 'Say good night.'))
  return { app, env }
}

test('list shows every skill of every page, and as JSON what the service answers', async (t) => {
  const { app, env } = await serve(t)
  const names = Array.from({ length: 103 }, (_, index) => `skill-${String(index).padStart(3, '0')}`)
  for (const name of names) await publish(app, skillMd(name))

  const { code, stdout } = await runCli(t, ['list'], { env })
  assert.equal(code, 0)
  const lines = stdout.trimEnd().split('\n')
  assert.match(lines[0] ?? '', /^NAME +VERSION +TOKENS +TAGS +DESCRIPTION$/)
  assert.match(
    lines[1] ?? '',
    /^skill-000 +1 +\d+ +Says hello to whoever comes in\. Use when somebody greets\.$/,
  )
  assert.deepEqual([lines.length, lines.at(-1)], [105, '103 skills.'])
  const { answer } = await runJson<Skill[]>(t, ['list'], { env })
  assert.deepEqual(
    answer.map(({ name }) => name),
    names,
  )
})

test('list takes the filters of the service', async (t) => {
  const { app, env } = await serve(t)
  await publish(app, skillMd('one', 'Say one.', 'tags: [a, b]\n'))
  await publish(app, skillMd('two', 'Say two.', 'tags: [a]\nallowed-tools: Read\n'))
  await app.inject({ method: 'PATCH', url: '/api/v1/skills/one', payload: { enabled: false } })
  const namesOf = async (...args: string[]) =>
    (await runJson<Skill[]>(t, ['list', ...args], { env })).answer.map(({ name }) => name)

  assert.deepEqual(await namesOf('--tag', 'a'), ['one', 'two'])
  assert.deepEqual(await namesOf('--tag', 'a', 'b'), ['one'])
  assert.deepEqual(await namesOf('--tool', 'Read'), ['two'])
  assert.deepEqual(await namesOf('--disabled'), ['one'])
  assert.deepEqual(await namesOf('--source', 'directory'), [])
})

test('search shows the best hit first', async (t) => {
  const { env } = await serve(t, { SKILLS_DIR: join(ROOT, 'skills') })

  const { stdout } = await runCli(t, ['search', 'fill', 'a', 'pdf', 'form'], { env })
  assert.match(stdout.split('\n')[1] ?? '', /^\d+\.\d{3} +pdf +1 +Reads, fills/)
  const { answer } = await runJson<Skill[]>(t, ['search', 'pdf', '--limit', '1'], { env })
  assert.deepEqual(
    answer.map(({ name, score }) => [name, typeof score]),
    [['pdf', 'number']],
  )
  const none = await runCli(t, ['search', 'zzyzx'], { env })
  assert.deepEqual([none.code, none.stdout], [0, 'No skill fits.\n'])
})

test('show tells what is known of a skill and of a version, and gives the bytes', async (t) => {
  const { env } = await serveVersions(t)

  const { stdout } = await runCli(t, ['show', 'greet'], { env })
  assert.match(stdout, /^name +greet\nversion +3 of 3, /)
  assert.match(stdout, /\n\nSay good night\.\n$/)
  const first = await runCli(t, ['show', 'greet', '1'], { env })
  assert.match(first.stdout, /^version +1, /m)
  const raw = await runCli(t, ['show', 'greet', '1', '--raw'], { env })
  assert.equal(raw.stdout, skillMd('greet', 'Say hello.'))
  const { answer } = await runJson<Skill>(t, ['show', 'greet'], { env })
  assert.deepEqual([answer.name, answer.version], ['greet', 3])
})

test('what a skill says cannot steer the terminal', async (t) => {
  const { app, env } = await serve(t)
  const { statusCode } = await publish(app, skillMd('greet', 'Say \u001b]0;title\u0007hello.'))
  assert.equal(statusCode, 201)

  const { stdout } = await runCli(t, ['show', 'greet'], { env })
  assert.match(stdout, /\n\nSay \]0;titlehello\.\n$/)
})

test('diff shows what changed between two versions', async (t) => {
  const { env } = await serveVersions(t)

  const { code, stdout } = await runCli(t, ['diff', 'greet', '1', '2'], { env })
  assert.equal(code, 0)
  assert.match(stdout, /^--- SKILL\.md\tversion 1\n\+\+\+ SKILL\.md\tversion 2\n@@ /)
  assert.match(stdout, /\n-Say hello\.\n\+Say good day\.\n/)
  const toCurrent = await runCli(t, ['diff', 'greet', '1'], { env })
  assert.match(toCurrent.stdout, /\n\+Say good night\.\n/)
  const same = await runCli(t, ['diff', 'greet', '2', '2'], { env })
  assert.equal(same.stdout, 'Versions 2 and 2 are the same.\n')
  const missing = await runCli(t, ['diff', 'greet', '1', '9'], { env })
  assert.equal(missing.code, 5)
  assert.match(missing.stderr, /version_not_found/)
})

test('diff tells of files that were added and removed, and of those that are no text', async (t) => {
  const { env } = await serve(t)
  const folder = join(await tempFolder(t), 'greet')
  const bytes = Uint8Array.of(0, 1, 2)
  await writeFiles(folder, { 'SKILL.md': skillMd('greet'), 'old.txt': 'Old.\n', 'logo.bin': bytes })
  await runCli(t, ['push', folder], { env })
  const other = join(await tempFolder(t), 'greet')
  await writeFiles(other, { 'SKILL.md': skillMd('greet'), 'new.txt': 'New.\n' })
  await runCli(t, ['push', other], { env })

  const { answer } = await runJson<{ files: object[] }>(t, ['diff', 'greet', '1', '2'], { env })
  assert.deepEqual(answer.files, [
    { path: 'logo.bin', status: 'removed', patch: null },
    {
      path: 'new.txt',
      status: 'added',
      patch: '--- /dev/null\n+++ new.txt\tversion 2\n@@ -0,0 +1,1 @@\n+New.\n',
    },
    {
      path: 'old.txt',
      status: 'removed',
      patch: '--- old.txt\tversion 1\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-Old.\n',
    },
  ])
})

test('rollback makes an earlier version the current one, and forward again', async (t) => {
  const { env } = await serveVersions(t)

  const back = await runCli(t, ['rollback', 'greet', '1'], { env })
  assert.deepEqual([back.code, back.stdout], [0, 'greet is at version 1 of 3 now.\n'])
  const { answer } = await runJson<Skill>(t, ['rollback', 'greet', '3'], { env })
  assert.deepEqual([answer.version, answer.latest_version], [3, 3])
  const missing = await runCli(t, ['rollback', 'greet', '9'], { env })
  assert.equal(missing.code, 5)
})

test('pull writes what was pushed, byte for byte, and not over what was changed', async (t) => {
  const { env } = await serve(t)
  const folder = await tempFolder(t)
  const files = {
    'here/greet/SKILL.md': skillMd('greet'),
    'here/greet/scripts/hello.sh': 'echo hello\n',
    'here/greet/.config': 'plain=1\n',
    'here/greet/größe.txt': 'ä\r\n',
    'here/part/SKILL.md': skillMd('part'),
  }
  await writeFiles(folder, files)
  await runCli(t, ['push', 'here'], { env, cwd: folder })
  const pull = (...args: string[]) => runCli(t, ['pull', ...args], { env, cwd: folder })
  const there = (path: string) => readFile(join(folder, path.replace('here', 'there')), 'utf8')

  const first = await pull('--all', 'there')
  assert.deepEqual([first.code, first.stderr], [0, ''])
  for (const [path, text] of Object.entries(files)) assert.equal(await there(path), text)
  assert.equal((await pull('greet', 'part', 'there')).stdout, '2 skills, 0 written.\n')

  const changed = join(folder, 'there/greet/SKILL.md')
  await writeFile(changed, 'mine')
  await writeFile(join(folder, 'there/greet/extra.txt'), 'mine too')
  const refused = await pull('--all', 'there')
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /^failed +greet \(.*--force replaces it\.\)$/m)
  assert.equal(await readFile(changed, 'utf8'), 'mine')
  assert.equal((await pull('greet', 'there', '--force')).code, 0)
  assert.equal(await readFile(changed, 'utf8'), skillMd('greet'))
  await assert.rejects(stat(join(folder, 'there/greet/extra.txt')), { code: 'ENOENT' })
})

test('pull takes a version, and no name that leads elsewhere', async (t) => {
  const { env } = await serveVersions(t)
  const cwd = await tempFolder(t)

  await runCli(t, ['pull', 'greet', '.', '--number', '1'], { env, cwd })
  const pulled = await readFile(join(cwd, 'greet/SKILL.md'), 'utf8')
  assert.equal(pulled, skillMd('greet', 'Say hello.'))
  const { code, stderr } = await runCli(t, ['pull', '../greet', '.'], { env, cwd })
  assert.equal(code, 2)
  assert.match(stderr, /is no skill's name/)
})

test('an export is taken back by import without a change', async (t) => {
  const [here, there] = [await serve(t, { SKILLS_DIR: join(ROOT, 'skills') }), await serve(t)]
  const cwd = await tempFolder(t)

  const exported = await runCli(t, ['export', '-'], { env: here.env })
  assert.equal(exported.code, 0)
  const imported = await runCli(t, ['import', '-'], { env: there.env, input: exported.bytes })
  assert.equal(imported.code, 0)
  assert.match(imported.stdout, /^7 skills: 7 created, 0 updated, 0 unchanged, 0 failed\.$/m)
  for (const file of ['all.zip', 'all.tgz']) {
    const written = await runJson<{ bytes: number }>(t, ['export', file], { env: there.env, cwd })
    assert.equal((await stat(join(cwd, file))).size, written.answer.bytes)
    const again = await runJson<{ unchanged: number; results: object[] }>(t, ['import', file], {
      env: here.env,
      cwd,
    })
    assert.deepEqual([again.code, again.answer.unchanged, again.answer.results.length], [0, 7, 7])
  }
})

test('import refuses what is no archive before it is sent', async (t) => {
  const { env } = await serve(t)
  const cwd = await tempFolder(t)
  await writeFile(join(cwd, 'notes.txt'), 'These are notes.')

  for (const [file, told] of [
    ['notes.txt', /is neither a zip nor a tar\.gz/],
    ['not-there.zip', /There is no "not-there\.zip"/],
    ['.', /push takes folders/],
  ] as const) {
    const { code, stderr } = await runCli(t, ['import', file], { env, cwd })
    assert.equal(code, 2)
    assert.match(stderr, told)
  }
})
