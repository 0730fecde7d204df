import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skillTag } from '../../src/domain/precondition.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { onEachDatabase } from './databases.ts'
import { newFile, publication } from './publication.ts'

onEachDatabase('a change to the skills', (open) => {
  test('sets whether a skill is enabled along with a version, or without a new one', async (t) => {
    const skills = createSkillStore(await open(t))
    const folder = { type: 'directory', folder: 'greet' } as const
    await skills.publish(publication('greet', { source: folder, enabled: false }))
    assert.equal((await skills.find('greet'))?.enabled, false)
    await skills.change('greet', { source: { ...folder, withdrawn: true } })
    const back = publication('greet', { source: folder, enabled: true })
    assert.equal((await skills.publish(back)).outcome, 'updated')
    assert.partialDeepStrictEqual(await skills.find('greet'), { enabled: true, latestVersion: 1 })
    assert.deepEqual((await skills.find('greet'))?.source, folder)
    assert.equal((await skills.publish(back)).outcome, 'unchanged')
  })

  test('a precondition that does not hold stops every write', async (t) => {
    const skills = createSkillStore(await open(t))
    const absent = publication('greet', { precondition: 'exists' })
    assert.deepEqual(await skills.publish(absent), { outcome: 'conflict', current: undefined })
    await skills.publish(publication('greet', { precondition: 'absent' }))

    const found = await skills.find('greet')
    assert.ok(found)
    const conflict = { outcome: 'conflict', current: { version: 1, revision: 1 } }
    for (const precondition of ['absent', { tags: ['stale'] }] as const) {
      const next = publication('greet', { body: 'two', precondition })
      assert.deepEqual(await skills.publish(next), conflict)
      assert.deepEqual(await skills.change('greet', { enabled: false, precondition }), conflict)
      assert.deepEqual(await skills.remove('greet', precondition), conflict)
    }
    assert.equal(await skills.revision(), 1)

    const tags = [skillTag(found)]
    const changed = await skills.change('greet', { enabled: false, precondition: { tags } })
    assert.equal(changed?.outcome, 'changed')
    assert.equal((await skills.change('greet', { precondition: { tags } }))?.outcome, 'conflict')
    const byContent = { tags: [found.digest] }
    assert.deepEqual(await skills.remove('greet', byContent), { outcome: 'removed' })
  })

  test('goes back to an older version and forward again', async (t) => {
    const skills = createSkillStore(await open(t))
    for (const body of ['one', 'two']) await skills.publish(publication('greet', { body }))
    for (const currentVersion of [1, 2]) {
      const changed = await skills.change('greet', { currentVersion })
      assert.partialDeepStrictEqual(changed, { skill: { version: currentVersion } })
      assert.equal((await skills.catalog()).entries[0]?.version, currentVersion)
    }
    const nowhere = await skills.change('greet', { currentVersion: 3, enabled: false })
    assert.deepEqual(nowhere, { outcome: 'no_version' })
    assert.equal((await skills.find('greet'))?.enabled, true)
    assert.equal(await skills.revision(), 4)
  })

  test('a change to what already is raises no revision', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet'))
    const same = { enabled: true, currentVersion: 1, source: { type: 'api' } } as const
    assert.equal((await skills.change('greet', same))?.outcome, 'changed')
    assert.equal(await skills.revision(), 1)
  })

  test('a removed name is free at once, with versions from 1', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet'))
    const before = await skills.find('greet')
    assert.deepEqual(await skills.remove('greet'), { outcome: 'removed' })
    assert.equal(await skills.find('greet'), undefined)
    assert.equal((await skills.publish(publication('greet'))).outcome, 'created')
    const after = await skills.find('greet')
    assert.equal(after?.version, 1)
    assert.ok(before && after && after.id > before.id)
    assert.equal(await skills.revision(), 3)
  })

  test('never uses the number of a removed version again', async (t) => {
    const skills = createSkillStore(await open(t))
    for (const body of ['one', 'two', 'three']) await skills.publish(publication('greet', { body }))
    assert.deepEqual(await skills.removeVersion('greet', 3), { outcome: 'current' })
    await skills.change('greet', { currentVersion: 1 })
    assert.deepEqual(await skills.removeVersion('greet', 3), { outcome: 'removed' })
    assert.equal(await skills.removeVersion('greet', 3), undefined)
    assert.equal((await skills.find('greet'))?.latestVersion, 3)
    await skills.publish(publication('greet', { body: 'four' }))
    const numbers = (await skills.versions('greet', { limit: 9 })).map(({ version }) => version)
    assert.deepEqual(numbers, [4, 2, 1])
    assert.deepEqual(
      await skills.versions('greet', { before: 2, limit: 9 }).then((rest) => rest.length),
      1,
    )
  })

  test('shares equal files between versions and sweeps what none refers to', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    const blobs = async () => (await db.selectFrom('blobs').select('sha256').execute()).length
    const shared = newFile('shared.md', 'shared')
    const twice = { ...shared, path: 'again.md' }
    await skills.publish(publication('a', { body: 'one', files: [shared, twice] }))
    await skills.publish(publication('a', { body: 'two', files: [shared] }))
    await skills.publish(publication('b', { body: 'two', files: [shared] }))
    assert.equal(await blobs(), 3)
    await skills.removeVersion('a', 1)
    assert.equal(await blobs(), 2)
    await skills.remove('a')
    assert.equal((await skills.readFile('b', 'shared.md'))?.bytes.toString(), 'shared')
    await skills.remove('b')
    assert.equal(await blobs(), 0)
    for (const table of ['skill_versions', 'skill_files', 'skill_tags', 'skill_tools'] as const) {
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [])
    }
  })

  test('stores a bundle of more files than a statement takes', async (t) => {
    const skills = createSkillStore(await open(t))
    const files = Array.from({ length: 2500 }, (_, number) =>
      newFile(`f/${number}`, `${number % 50}`),
    )
    await skills.publish(publication('big', { files }))
    assert.equal((await skills.find('big'))?.files.length, 2501)
    assert.deepEqual(await skills.remove('big'), { outcome: 'removed' })
  })
})
