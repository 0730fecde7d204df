import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { onEachDatabase } from './databases.ts'
import { publication } from './publication.ts'

const EIGHT = Array.from({ length: 8 }, (_, number) => number)

onEachDatabase('of writes at the same moment', (open) => {
  test('one of eight that create a name does', async (t) => {
    const skills = createSkillStore(await open(t))
    const results = await Promise.all(
      EIGHT.map((number) =>
        skills.publish(publication('greet', { body: `${number}`, createOnly: true })),
      ),
    )
    const outcomes = results.map(({ outcome }) => outcome).sort()
    assert.deepEqual(outcomes, ['created', ...Array(7).fill('exists')])
    assert.equal(await skills.revision(), 1)
  })

  test('eight different ones make eight versions without a gap', async (t) => {
    const skills = createSkillStore(await open(t))
    const results = await Promise.all(
      EIGHT.map((number) => skills.publish(publication('greet', { body: `${number}` }))),
    )
    const versions = results.map((result) => 'skill' in result && result.skill.version).sort()
    assert.deepEqual(versions, [1, 2, 3, 4, 5, 6, 7, 8])
    for (const result of results) {
      assert.ok('skill' in result)
      const stored = await skills.findVersion('greet', result.skill.version ?? 0)
      assert.equal(stored?.body, result.skill.body)
    }
    assert.equal(await skills.revision(), 8)
  })

  test('eight equal ones make one version', async (t) => {
    const skills = createSkillStore(await open(t))
    const results = await Promise.all(EIGHT.map(() => skills.publish(publication('greet'))))
    const outcomes = results.map(({ outcome }) => outcome).sort()
    assert.deepEqual(outcomes, ['created', ...Array(7).fill('unchanged')])
    assert.equal((await skills.versions('greet', { limit: 9 })).length, 1)
  })

  test('one of eight that expect the same state finds it', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet'))
    const tags = [publication('greet').digest]
    const results = await Promise.all(
      EIGHT.map((number) =>
        skills.publish(publication('greet', { body: `${number}`, precondition: { tags } })),
      ),
    )
    const outcomes = results.map(({ outcome }) => outcome).sort()
    assert.deepEqual(outcomes, [...Array(7).fill('conflict'), 'updated'])
  })

  test('all give their skills a revision of their own, and readers see whole ones', async (t) => {
    const skills = createSkillStore(await open(t))
    const writing = EIGHT.map(async (number) => {
      for (const body of ['one', 'two', 'three']) {
        await skills.publish(publication(`s${number}`, { body }))
        if (number % 2) await skills.remove(`s${number}`)
      }
    })
    let done = false
    const reading = (async () => {
      while (!done) {
        const { revision, entries } = await skills.catalog()
        assert.ok(entries.length <= revision)
        const found = await skills.find('s1')
        if (found) assert.equal(found.files.length, 1)
        await new Promise(setImmediate)
      }
    })()
    await Promise.all(writing)
    done = true
    await reading
    assert.equal(await skills.revision(), 8 * 3 + 4 * 3)
    const revisions = (await skills.list({ sort: '-updated_at', limit: 99 })).map((s) => s.revision)
    assert.equal(new Set(revisions).size, 4)
  })
})
