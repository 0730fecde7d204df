import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BundleFile } from '../../src/domain/skill.ts'
import { AppError } from '../../src/errors.ts'
import type { Archive } from '../../src/registry/archives/archive.ts'
import { openImport } from '../../src/registry/import.ts'
import { createRegistry } from '../../src/registry/registry.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { skillMd } from '../build-app.ts'

const limits = { skillBytes: 1e6, fileBytes: 1e6, bundleBytes: 1e6, files: 10 }

interface Script {
  files: string[]
  /** What comes in place of the files that are left. */
  breaksWith?: Error
}

/** An import of an archive that remembers how many of its files were read. */
async function begin(t: TestContext, { files, breaksWith }: Script) {
  const db = await openDatabase('sqlite::memory:')
  t.after(() => db.destroy())
  const skills = createSkillStore(db)
  const state = { read: 0, closed: false }
  async function* read(): AsyncGenerator<BundleFile> {
    try {
      for (const path of files) {
        const [name = ''] = path.split('/')
        state.read += 1
        yield { path, bytes: Buffer.from(path.endsWith('.md') ? skillMd(name) : path) }
      }
      if (breaksWith) throw breaksWith
    } finally {
      state.closed = true
    }
  }
  const more = breaksWith ? ['b/lost', 'c/lost'] : []
  const archive: Archive = { entries: [...files, ...more].map((path) => ({ path })), files: read }
  const { results } = openImport(archive, {
    registry: createRegistry(skills, limits, []),
    skills,
    mode: 'strict',
    manner: { source: { type: 'api' }, by: null },
    rehearsal: false,
  })
  return { results: results(), state, skills }
}

test('a skill is stored as soon as its files are there, and not before it is asked for', async (t) => {
  const { results, state, skills } = await begin(t, {
    files: ['a/SKILL.md', 'a/x', 'b/SKILL.md', 'b/x', 'c/SKILL.md'],
  })
  assert.equal(await skills.find('a'), undefined)
  const { value } = await results.next()
  assert.deepEqual([value?.name, value?.status, state.read], ['a', 'created', 2])
  assert.equal(await skills.find('b'), undefined)
  await results.next()
  assert.equal(state.read, 4)
})

test('the order of the files in the archive makes no difference to that of the skills', async (t) => {
  const { results } = await begin(t, {
    files: ['c/x', 'b/x', 'b/SKILL.md', 'c/SKILL.md', 'a/SKILL.md', 'b/y'],
  })
  const names: (string | null)[] = []
  for await (const { name } of results) names.push(name)
  assert.deepEqual(names, ['a', 'b', 'c'])
})

test('whoever stops asking closes the archive', async (t) => {
  const { results, state, skills } = await begin(t, { files: ['a/SKILL.md', 'b/SKILL.md'] })
  for await (const { name } of results) {
    assert.equal(name, 'a')
    break
  }
  assert.equal(state.closed, true)
  assert.equal(await skills.find('b'), undefined)
})

test('damage fails the skills that are not whole, and a fault of ours ends the import', async (t) => {
  const files = ['a/SKILL.md', 'b/SKILL.md', 'c/SKILL.md', 'd/SKILL.md']
  const broken = new AppError('archive_corrupt', 'It is damaged.')
  const { results } = await begin(t, { files, breaksWith: broken })
  const told: unknown[] = []
  for await (const { name, status, errors } of results) told.push([name, status, errors[0]?.code])
  assert.deepEqual(told, [
    ['a', 'created', undefined],
    [null, 'failed', 'archive_corrupt'],
    [null, 'failed', 'archive_corrupt'],
    ['d', 'created', undefined],
  ])

  const ours = await begin(t, { files, breaksWith: new Error('A bug.') })
  await assert.rejects(async () => {
    for await (const { name } of ours.results) assert.equal(name, 'a')
  }, /A bug/)
})
