import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSkillStore } from '../../src/store/skill-store.ts'
import type { SkillPage } from '../../src/store/skills.ts'
import { onEachDatabase } from './databases.ts'
import { newFile, publication } from './publication.ts'

onEachDatabase('a list of skills', (open) => {
  test('the catalog holds what is current, in code-point order, with its revision', async (t) => {
    const skills = createSkillStore(await open(t))
    assert.deepEqual(await skills.catalog(), { revision: 0, entries: [] })
    for (const name of ['b', 'a-b', 'a', 'ab', 'a1']) await skills.publish(publication(name))
    await skills.change('ab', { enabled: false })
    await skills.publish(publication('c', { activate: false }))
    const { revision, entries } = await skills.catalog()
    assert.equal(revision, 7)
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['a', 'a-b', 'a1', 'ab', 'b'],
    )
    const { digest } = publication('ab')
    assert.deepEqual(entries[3], {
      name: 'ab',
      description: 'Says hello.',
      tags: [],
      allowedTools: null,
      hidden: false,
      enabled: false,
      version: 1,
      digest,
      tokens: { catalog: 10, body: 20 },
    })
  })

  test('filters by tags, tool, state and source', async (t) => {
    const skills = createSkillStore(await open(t))
    const tools = ['Read', 'Bash(git:*)']
    await skills.publish(publication('a', { tags: ['Quality', 'ÄRA'], allowedTools: tools }))
    await skills.publish(
      publication('b', { tags: ['quality'], source: { type: 'directory', folder: 'b' } }),
    )
    await skills.publish(publication('c', { tags: ['x'.repeat(5000)], enabled: false }))
    const names = async (filter: Partial<SkillPage>) =>
      (await skills.list({ sort: 'name', limit: 10, ...filter })).map(({ name }) => name).join()

    assert.equal(await names({}), 'a,b,c')
    assert.equal(await names({ tags: ['QUALITY'] }), 'a,b')
    assert.equal(await names({ tags: ['quality', 'ära'] }), 'a')
    assert.equal(await names({ tags: ['quality', 'x\0'] }), '')
    assert.equal(await names({ tool: 'Bash(git:*)' }), 'a')
    assert.equal(await names({ tool: 'Bash' }), '')
    assert.equal(await names({ enabled: false }), 'c')
    assert.equal(await names({ enabled: true, source: 'api' }), 'a')
    assert.equal(await names({ source: 'directory' }), 'b')

    await skills.publish(publication('a', { body: 'two', tags: [] }))
    assert.equal(await names({ tags: ['quality'] }), 'b')
    await skills.change('a', { currentVersion: 1 })
    assert.equal(await names({ tags: ['quality'] }), 'a,b')
  })

  test('lists without bodies, with the number of files', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet', { files: [newFile('a.md', 'a')] }))
    const [summary] = await skills.list({ sort: 'name', limit: 1 })
    const { body: _, files: __, ...rest } = (await skills.find('greet')) ?? {}
    assert.deepEqual(summary, { ...rest, fileCount: 2 })
    const [version] = await skills.versions('greet', { limit: 1 })
    const { body: ___, files: ____, ...facts } = (await skills.findVersion('greet', 1)) ?? {}
    assert.deepEqual(version, { ...facts, fileCount: 2 })
  })

  test('walking the pages drops and repeats nothing while skills come and go', async (t) => {
    const skills = createSkillStore(await open(t))
    const names = Array.from({ length: 12 }, (_, number) => `s${String(number).padStart(2, '0')}`)
    for (const name of names) await skills.publish(publication(name))

    for (const sort of ['name', '-updated_at'] as const) {
      const seen: string[] = []
      let after: string | undefined
      for (let page = 0; ; page++) {
        const found = await skills.list({ sort, limit: 5, ...(after && { after }) })
        seen.push(...found.map(({ name }) => name))
        const last = found.at(-1)
        if (!last) break
        after = sort === 'name' ? last.name : String(last.revision)
        await skills.publish(publication(`${sort === 'name' ? 'a' : 'z'}${page}`))
        await skills.remove(last.name)
      }
      assert.deepEqual(
        seen.filter((name) => names.includes(name)),
        names
          .filter((name) => seen.includes(name))
          .toSorted((a, b) => (sort === 'name' ? 1 : -1) * (a < b ? -1 : 1)),
      )
      assert.equal(new Set(seen).size, seen.length)
      if (sort === 'name') assert.equal(seen.length, 12)
    }
    const foreign = { sort: '-updated_at', after: 'greet', limit: 1 } as const
    await assert.rejects(skills.list(foreign), { code: 'cursor_invalid' })
  })

  test('a probe commits a write and leaves the revision', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    await skills.probe()
    await skills.probe()
    assert.deepEqual(await db.selectFrom('probe').select('writes').execute(), [{ writes: 2 }])
    assert.equal(await skills.revision(), 0)
  })
})
