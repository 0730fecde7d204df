import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, namesOf, patch, remove } from '../requests.ts'
import { tempFolder } from '../temp-folder.ts'

/** A skills directory with these files, and a database file beside it. */
async function withFolder(t: TestContext, files: Record<string, string> = {}) {
  const folder = await tempFolder(t)
  const root = join(folder, 'skills')
  await mkdir(root)
  const write = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  for (const [path, text] of Object.entries(files)) await write(path, text)
  const env = { SKILLS_DIR: root, DATABASE_URL: `sqlite:${join(folder, 'skills.db')}` }
  return { root, write, start: () => buildTestApp(t, { env }) }
}

async function until(done: () => Promise<boolean>, what: string) {
  for (const limit = Date.now() + 8000; !(await done()); await sleep(25)) {
    assert.ok(Date.now() < limit, what)
  }
}

const bodyOf = async (app: TestApp, name: string) => (await get(app, `/skills/${name}`)).json().body

const untilBody = (app: TestApp, name: string, body: string) =>
  until(async () => (await bodyOf(app, name)) === body, `${name} says ${body}`)

const untilCatalog = (app: TestApp, pattern: RegExp) =>
  until(async () => pattern.test((await get(app, '/catalog')).body), `the catalog is ${pattern}`)

async function skippedBy(app: TestApp) {
  const { parts } = (await app.inject('/ready')).json()
  const found = parts.skills_directory.skipped as { path: string; code: string }[]
  return found.map(({ path, code }) => [path, code]).sort()
}

test('the skills of the directory are there at the start', async (t) => {
  const { start } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'part/SKILL.md': skillMd('part'),
  })
  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills?source=directory')), ['greet', 'part'])
  const skill = (await get(app, '/skills/greet')).json()
  assert.deepEqual([skill.source, skill.version], [{ type: 'directory', folder: 'greet' }, 1])
  assert.match((await get(app, '/catalog')).body, /^- greet: .*\n- part: /)
  assert.deepEqual(await skippedBy(app), [])
})

test('they are read leniently, with the name of the folder to fall back to', async (t) => {
  const { start } = await withFolder(t, {
    'Code Review/SKILL.md': 'Reviews code. Use when asked.\n\nLook twice.\n',
    'lower/skill.md': skillMd('lower'),
    'other/SKILL.md': skillMd('named-otherwise').replace('Says hello to whoever', 'Waters what'),
  })
  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills')), ['code-review', 'lower', 'named-otherwise'])
  const { description, warnings } = (await get(app, '/skills/code-review')).json()
  assert.equal(description, 'Reviews code. Use when asked.')
  assert.ok(warnings.some(({ code }: { code: string }) => code === 'frontmatter_missing'))
  const codes = async (name: string) =>
    (await get(app, `/skills/${name}`)).json().warnings.map(({ code }: { code: string }) => code)
  assert.deepEqual(await codes('lower'), ['file_name_case'])
  assert.deepEqual(await codes('named-otherwise'), ['name_folder'])
})

test('bundled files are stored, and what is hidden is not', async (t) => {
  const { start } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'greet/docs/a.md': 'A',
    'greet/docs/.b.md.swp': 'B',
    'greet/.git/config': 'C',
    '.hidden/SKILL.md': skillMd('hidden'),
    'loose.md': 'D',
    'empty/readme.txt': 'E',
  })
  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills')), ['greet'])
  const { data } = (await get(app, '/skills/greet/files')).json()
  assert.deepEqual(
    data.map(({ path }: { path: string }) => path),
    ['docs/a.md'],
  )
  assert.equal((await get(app, '/skills/greet/files/docs/a.md')).body, 'A')
  assert.deepEqual(await skippedBy(app), [])
})

test('a change, a new folder and a changed file are in the next catalog, without a restart', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await write('greet/SKILL.md', skillMd('greet', 'Say goodbye.'))
  await untilBody(app, 'greet', 'Say goodbye.\n')
  assert.equal((await get(app, '/skills/greet')).json().version, 2)

  await write('fresh/SKILL.md', skillMd('fresh'))
  await untilCatalog(app, /^- fresh: .*\n- greet: /)

  await write('greet/a.txt', 'A')
  await until(async () => (await get(app, '/skills/greet')).json().file_count === 1, 'a file more')
  assert.equal((await get(app, '/skills/greet')).json().version, 3)
})

test('an edit back to an earlier text is an edit', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet', 'One.') })
  const app = await start()
  for (const body of ['Two.', 'One.']) {
    await write('greet/SKILL.md', skillMd('greet', body))
    await untilBody(app, 'greet', `${body}\n`)
  }
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 3)
})

test('a file over the limit is skipped and named, and the skill kept', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  await write('greet/large.bin', Buffer.alloc(17 * 1024 * 1024))
  const app = await start()
  assert.equal((await get(app, '/skills/greet')).json().file_count, 0)
  assert.deepEqual(await skippedBy(app), [['greet/large.bin', 'archive_too_large']])
})

test('writing the same bytes again makes no version', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await write('greet/SKILL.md', skillMd('greet'))
  await write('later/SKILL.md', skillMd('later'))
  await untilCatalog(app, /^- later: /m)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)
})

test('an update and a rollback over REST outlive a restart', async (t) => {
  const { start } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet', 'From the folder.'),
    'part/SKILL.md': skillMd('part', 'One.'),
  })
  const first = await start()
  await put(first, 'greet', skillMd('greet', 'From REST.'))
  await put(first, 'part', skillMd('part', 'Two.'))
  await patch(first, 'part', { current_version: 1 })
  await patch(first, 'part', { enabled: false })
  await first.close()

  const second = await start()
  const greet = (await get(second, '/skills/greet')).json()
  assert.deepEqual([greet.body, greet.latest_version], ['From REST.\n', 2])
  const part = (await get(second, '/skills/part')).json()
  assert.deepEqual([part.version, part.latest_version, part.enabled], [1, 2, false])
})

test('an edit of the folder after an update over REST is the next version', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await put(app, 'greet', skillMd('greet', 'From REST.'))
  await write('greet/SKILL.md', skillMd('greet', 'From the folder.'))
  await untilBody(app, 'greet', 'From the folder.\n')
  assert.equal((await get(app, '/skills/greet')).json().version, 3)
})

test('a skill whose folder vanishes is disabled, keeps its history, and comes back with it', async (t) => {
  const { root, start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await rm(join(root, 'greet'), { recursive: true })
  await untilCatalog(app, /^\(no skills available\)$/)
  const gone = (await get(app, '/skills/greet')).json()
  assert.deepEqual([gone.enabled, gone.latest_version, gone.source.type], [false, 1, 'directory'])
  assert.equal((await get(app, '/skills/greet/versions/1/content')).body, skillMd('greet'))

  await write('greet/SKILL.md', skillMd('greet'))
  await untilCatalog(app, /^- greet: /)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)
})

test('a folder that comes back with other contents is enabled too', async (t) => {
  const { root, start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await rm(join(root, 'greet'), { recursive: true })
  await untilCatalog(app, /^\(no skills available\)$/)
  await write('greet/SKILL.md', skillMd('greet', 'Anew.'))
  await untilBody(app, 'greet', 'Anew.\n')
  await untilCatalog(app, /^- greet: /)
})

test('the same happens while the service is not running', async (t) => {
  const { root, start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  await (await start()).close()
  await rm(join(root, 'greet'), { recursive: true })
  const without = await start()
  assert.equal((await get(without, '/skills/greet')).json().enabled, false)
  await without.close()
  await write('greet/SKILL.md', skillMd('greet'))
  const again = (await get(await start(), '/skills/greet')).json()
  assert.deepEqual([again.enabled, again.latest_version], [true, 1])
})

test('a skill that somebody switched off stays off when its folder goes and comes', async (t) => {
  const { root, start, write } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'part/SKILL.md': skillMd('part'),
  })
  const app = await start()
  await patch(app, 'greet', { enabled: false })
  for (const name of ['greet', 'part']) await rm(join(root, name), { recursive: true })
  await untilCatalog(app, /^\(no skills available\)$/)
  for (const name of ['greet', 'part']) await write(`${name}/SKILL.md`, skillMd(name))
  await untilCatalog(app, /^- part: /)
  assert.equal((await get(app, '/skills/greet')).json().enabled, false)
})

test('a folder that is renamed holds the same skill, without a new version', async (t) => {
  const { root, start } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await rename(join(root, 'greet'), join(root, 'welcome'))
  const folderOf = async () => (await get(app, '/skills/greet')).json().source.folder
  await until(async () => (await folderOf()) === 'welcome', 'the folder is known by its new name')
  const { enabled, latest_version } = (await get(app, '/skills/greet')).json()
  assert.deepEqual([enabled, latest_version], [true, 1])
  await until(async () => (await skippedBy(app)).length === 0, 'nothing is skipped')
})

test('a folder that is renamed while the service is not running keeps its skill', async (t) => {
  const { root, start } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  await (await start()).close()
  await rename(join(root, 'greet'), join(root, 'a-welcome'))
  const { enabled, latest_version, source } = (await get(await start(), '/skills/greet')).json()
  assert.deepEqual([enabled, latest_version, source.folder], [true, 1, 'a-welcome'])
})

test('a folder whose skill takes another name withdraws the old one', async (t) => {
  const { start, write } = await withFolder(t, { 'greet/SKILL.md': skillMd('greet') })
  const app = await start()
  await write('greet/SKILL.md', skillMd('welcome'))
  await untilCatalog(app, /^- welcome: [^\n]*$/)
  assert.equal((await get(app, '/skills/greet')).json().enabled, false)
})

test('of two folders with one name the first stays, and the other is named', async (t) => {
  const { root, start } = await withFolder(t, {
    'a/SKILL.md': skillMd('greet', 'First.'),
    'b/SKILL.md': skillMd('greet', 'Second.'),
  })
  const app = await start()
  assert.equal(await bodyOf(app, 'greet'), 'First.\n')
  assert.deepEqual(await skippedBy(app), [['b/SKILL.md', 'name_conflict']])
  await rm(join(root, 'a'), { recursive: true })
  await untilBody(app, 'greet', 'Second.\n')
  await untilCatalog(app, /^- greet: /)
  assert.deepEqual(await skippedBy(app), [])
})

test('a broken edit keeps the last good version, and ready names it until it is mended', async (t) => {
  const { start, write } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'part/SKILL.md': skillMd('part'),
  })
  const app = await start()
  await write('greet/SKILL.md', '---js\nname: greet\n---\n')
  await until(async () => (await skippedBy(app)).length > 0, 'the edit is seen')
  assert.deepEqual(await skippedBy(app), [['greet/SKILL.md', 'frontmatter_language']])
  assert.equal((await app.inject('/ready')).statusCode, 200)
  assert.match((await get(app, '/catalog')).body, /^- greet: .*\n- part: /)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)

  await write('greet/SKILL.md', skillMd('greet', 'Mended.'))
  await untilBody(app, 'greet', 'Mended.\n')
  assert.deepEqual(await skippedBy(app), [])
})

test('one bad skill never hides another', async (t) => {
  const { start } = await withFolder(t, {
    'a/SKILL.md': '---js\n---\n',
    'b/SKILL.md': '\0',
    'c/SKILL.md': skillMd('c'),
    'con/SKILL.md': skillMd('con'),
    'd/SKILL.md': '',
  })
  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills')), ['c'])
  assert.deepEqual(
    (await skippedBy(app)).map(([path]) => path),
    ['a/SKILL.md', 'b/SKILL.md', 'con/SKILL.md', 'd/SKILL.md'],
  )
})

test('what leaves the directory or is no file is skipped and named, and the rest is read', async (t) => {
  const { root, start, write } = await withFolder(t, {
    '../secret.txt': 'secret',
    'good/SKILL.md': skillMd('good'),
    'shared/notes.md': 'Shared.',
    'special/readme.txt': '',
    'folder/SKILL.md/x': '',
    'outside/readme.txt': '',
  })
  await symlink('../../secret.txt', join(root, 'good/link-out.txt'))
  await symlink('/etc/passwd', join(root, 'good/absolute.txt'))
  await symlink('nowhere', join(root, 'good/dangling.txt'))
  await symlink('..', join(root, 'good/loop'))
  await symlink('../shared/notes.md', join(root, 'good/notes.md'))
  execFileSync('mkfifo', [join(root, 'good/pipe'), join(root, 'special/SKILL.md')])
  await symlink('/etc/passwd', join(root, 'outside/SKILL.md'))
  await symlink(join(root, 'good'), join(root, 'whole'))
  await write('good/run.sh', 'exit')

  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills')), ['good'])
  const { data } = (await get(app, '/skills/good/files')).json()
  assert.deepEqual(
    data.map(({ path }: { path: string }) => path),
    ['notes.md', 'run.sh'],
  )
  assert.equal((await get(app, '/skills/good/files/notes.md')).body, 'Shared.')
  const skipped = (await skippedBy(app)).map(([path]) => path)
  for (const path of [
    'good/absolute.txt',
    'good/dangling.txt',
    'good/link-out.txt',
    'good/loop',
    'good/pipe',
    'outside/SKILL.md',
    'special/SKILL.md',
    'whole',
  ]) {
    assert.ok(skipped.includes(path), `${path} is not in ${skipped}`)
  }
  assert.ok(
    skipped.some((path) => path?.startsWith('folder')),
    `folder is not in ${skipped}`,
  )
  assert.doesNotMatch((await app.inject('/ready')).body, new RegExp(root))
})

test('a file that cannot be read is skipped and named', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root reads everything')
  const { root, start } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'greet/locked.txt': '',
    'locked/SKILL.md': skillMd('locked'),
  })
  for (const path of ['greet/locked.txt', 'locked/SKILL.md']) await chmod(join(root, path), 0)
  const app = await start()
  assert.deepEqual(namesOf(await get(app, '/skills')), ['greet'])
  assert.deepEqual(await skippedBy(app), [
    ['greet/locked.txt', 'file_unreadable'],
    ['locked/SKILL.md', 'file_unreadable'],
  ])
})

test('files that are swapped by a link, as Kubernetes mounts them, are seen', async (t) => {
  const { root, start } = await withFolder(t, {
    'greet/..1/SKILL.md': skillMd('greet', 'One.'),
    'greet/..2/SKILL.md': skillMd('greet', 'Two.'),
  })
  await symlink('..1', join(root, 'greet/..data'))
  await symlink('..data/SKILL.md', join(root, 'greet/SKILL.md'))
  const app = await start()
  assert.equal(await bodyOf(app, 'greet'), 'One.\n')
  await symlink('..2', join(root, 'greet/..next'))
  await rename(join(root, 'greet/..next'), join(root, 'greet/..data'))
  await untilBody(app, 'greet', 'Two.\n')
})

test('a skill deleted over REST stays deleted until its folder changes', async (t) => {
  const { start, write } = await withFolder(t, {
    'greet/SKILL.md': skillMd('greet'),
    'part/SKILL.md': skillMd('part'),
  })
  const app = await start()
  await remove(app, 'greet')
  await write('part/SKILL.md', skillMd('part', 'Two.'))
  await untilBody(app, 'part', 'Two.\n')
  assertProblem(await get(app, '/skills/greet'), 404, 'skill_not_found')
  await write('greet/SKILL.md', skillMd('greet', 'Again.'))
  await untilBody(app, 'greet', 'Again.\n')
})

test('a skill that was made over REST is not withdrawn by a folder', async (t) => {
  const { start, write } = await withFolder(t)
  const app = await start()
  await publish(app, skillMd('greet'))
  await write('part/SKILL.md', skillMd('part'))
  await untilCatalog(app, /^- part: /m)
  assert.match((await get(app, '/catalog')).body, /^- greet: /)
})

test('a directory that appears after the start is read', async (t) => {
  const { root, start, write } = await withFolder(t)
  await rm(root, { recursive: true })
  const app = await start()
  await write('greet/SKILL.md', skillMd('greet'))
  await untilCatalog(app, /^- greet: /)
})
