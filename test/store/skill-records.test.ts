import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { createSkillStore } from '../../src/store/skill-store.ts'
import type { SkillStore } from '../../src/store/skills.ts'
import type { Tables } from '../../src/store/tables.ts'
import { onEachDatabase } from './databases.ts'
import { publication } from './publication.ts'

type Rest = Parameters<typeof publication>[1]

async function store(skills: SkillStore, name: string, rest: Rest = {}) {
  const published = await skills.publish(publication(name, rest))
  assert.ok('skill' in published, JSON.stringify(published))
  return published
}

const addTo = (skills: SkillStore, id: string, name: string, rest: Rest = {}) =>
  store(skills, name, { into: id, unchangedIf: 'never', ...rest })

const keep = { last: 'refuse', shown: 'replace' } as const
const shell = { last: 'shell', shown: 'replace' } as const
const whole = { last: 'skill', shown: 'refuse' } as const

const blobs = async (db: Kysely<Tables>) =>
  (await db.selectFrom('blobs').select('sha256').execute()).length

onEachDatabase('skills by their ids', (open) => {
  test('have versions of rising epochs, at once and after a clock that was put back', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    const before = Date.now() * 1000
    const names = Array.from({ length: 20 }, (_, index) => `skill-${index}`)
    const stored = await Promise.all(names.map((name) => store(skills, name)))
    const epochs = stored.sort((a, b) => a.skill.revision - b.skill.revision)
    const numbers = epochs.map(({ newest }) => newest.epoch)
    assert.equal(new Set(numbers).size, 20)
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    )
    assert.ok(numbers.every((epoch) => epoch >= before && `${epoch}`.length === 16))

    const ahead = 3_000_000_000_000_000
    await db.updateTable('registry').set({ epoch: ahead }).execute()
    const later = await store(skills, 'late')
    assert.equal(later.newest.epoch, ahead + 1)
    await skills.removeRecord(later.skill.id, { emptyOnly: false })
    assert.equal((await store(skills, 'late')).newest.epoch, ahead + 2)
  })

  test('have a new version for the same bytes only where that is asked for', async (t) => {
    const skills = createSkillStore(await open(t))
    const { skill, newest } = await store(skills, 'greet')
    const same = await store(skills, 'greet')
    assert.deepEqual([same.outcome, same.newest], ['unchanged', newest])
    const next = await addTo(skills, skill.id, 'greet')
    assert.deepEqual([next.outcome, next.newest.version, next.skill.version], ['updated', 2, 2])
    assert.notEqual(next.newest.id, newest.id)
  })

  test('are found, with the version they show and the newest one', async (t) => {
    const skills = createSkillStore(await open(t))
    const first = await store(skills, 'greet', { displayName: 'Greeting', description: 'One.' })
    const { id } = first.skill
    assert.equal(first.skill.title, 'Greeting')
    const second = await addTo(skills, id, 'greet', { description: 'Two.', activate: false })
    const found = await skills.findRecord(id)
    assert.deepEqual(found, {
      id,
      name: 'greet',
      title: 'Greeting',
      shown: { version: 1, description: 'One.' },
      newest: { id: second.newest.id, version: 2, epoch: second.newest.epoch },
      createdAt: first.skill.createdAt,
      updatedAt: second.skill.updatedAt,
    })
    const { newest } = second
    for (const reference of [{ id: newest.id }, { epoch: newest.epoch }, { version: 2 }]) {
      assert.deepEqual(await skills.findVersionRecord(id, reference), newest)
    }
    assert.deepEqual(await skills.findVersionRecord(id, 'latest'), newest)
    const changed = await skills.makeCurrent(id, 2)
    assert.deepEqual(changed?.shown, { version: 2, description: 'Two.' })
    assert.equal(await skills.makeCurrent(id, 3), undefined)
    assert.equal((await skills.find('greet'))?.version, 2)
  })

  test('have no version of another skill', async (t) => {
    const skills = createSkillStore(await open(t))
    const one = await store(skills, 'one')
    const other = await store(skills, 'other')
    const { id, epoch } = other.newest
    assert.equal(await skills.findVersionRecord(one.skill.id, { id }), undefined)
    assert.equal(await skills.findVersionRecord(one.skill.id, { epoch }), undefined)
    assert.equal(await skills.removeVersionRecord(one.skill.id, id, whole), undefined)
    assert.equal(await skills.wasListed(id, one.skill.id), false)
  })

  test('are listed by creation, also behind one that is gone', async (t) => {
    const skills = createSkillStore(await open(t))
    const ids: string[] = []
    for (const name of ['c', 'a', 'b', 'd']) ids.push((await store(skills, name)).skill.id)
    const [first, second, third, fourth = ''] = ids
    await skills.removeRecord(second ?? '', { emptyOnly: false })
    const list = async (page: { order: 'asc' | 'desc'; after?: string | undefined }) =>
      (await skills.records({ limit: 2, shells: false, ...page })).map(({ id }) => id)
    assert.deepEqual(await list({ order: 'desc' }), [fourth, third])
    assert.deepEqual(await list({ order: 'asc', after: second }), [third, fourth])
    assert.deepEqual(await list({ order: 'desc', after: second }), [first])

    assert.equal(await skills.wasListed(second ?? ''), true)
    await skills.removeRecord(fourth, { emptyOnly: false })
    assert.equal(await skills.wasListed(fourth), true)
    for (const id of ['skill_zzzzzzzz', 'skill_00000000', 'x', '']) {
      assert.equal(await skills.wasListed(id), false, id)
    }
  })

  test('make the newest that remains current, of which no number comes again', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    const { skill } = await store(skills, 'greet', { body: 'One.' })
    const { id } = skill
    await addTo(skills, id, 'greet', { body: 'Two.' })
    const third = await addTo(skills, id, 'greet', { body: 'Three.' })
    assert.equal((await skills.removeVersionRecord(id, third.newest.id, whole))?.outcome, 'shown')
    assert.equal((await skills.removeVersionRecord(id, third.newest.id, keep))?.outcome, 'removed')
    const now = await skills.find('greet')
    assert.deepEqual([now?.version, now?.body], [2, 'Two.'])
    assert.equal((await skills.catalog()).entries[0]?.version, 2)
    assert.equal(await blobs(db), 2)
    assert.equal((await addTo(skills, id, 'greet')).newest.version, 4)
  })

  test('keep a shell, or nothing, or their last version', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    const { skill, newest } = await store(skills, 'greet', { displayName: 'Greeting' })
    const { id } = skill
    assert.equal((await skills.removeVersionRecord(id, newest.id, keep))?.outcome, 'last')
    const revision = await skills.revision()
    assert.equal((await skills.removeVersionRecord(id, newest.id, shell))?.outcome, 'removed')
    assert.equal(await skills.revision(), revision + 1)
    const found = await skills.findRecord(id)
    assert.deepEqual([found?.title, found?.shown, found?.newest], ['Greeting', null, null])
    assert.equal(await skills.find('greet'), undefined)
    assert.deepEqual(await skills.search({ phrases: [['hello']], limit: 5 }), [])
    assert.equal(await blobs(db), 0)
    assert.deepEqual(await skills.records({ order: 'desc', limit: 5, shells: false }), [])
    assert.equal((await skills.records({ order: 'desc', limit: 5, shells: true })).length, 1)

    const again = await addTo(skills, id, 'greet')
    assert.deepEqual([again.skill.id, again.newest.version, again.skill.version], [id, 2, 2])
    assert.deepEqual([again.skill.title, again.skill.createdAt], ['Greeting', skill.createdAt])
    assert.equal((await skills.removeVersionRecord(id, again.newest.id, whole))?.outcome, 'removed')
    assert.equal(await skills.findRecord(id), undefined)
  })

  test('find a name that was taken from a shell', async (t) => {
    const skills = createSkillStore(await open(t))
    const { skill, newest } = await store(skills, 'greet')
    await skills.removeVersionRecord(skill.id, newest.id, shell)
    const other = await store(skills, 'greet')
    assert.notEqual(other.skill.id, skill.id)
    assert.equal(other.newest.version, 1)
    const into = publication('greet', { into: skill.id, unchangedIf: 'never' })
    assert.deepEqual(await skills.publish(into), { outcome: 'exists' })
    const listed = await skills.records({ order: 'asc', limit: 1, shells: true })
    assert.deepEqual(
      listed.map(({ id }) => id),
      [skill.id],
    )

    assert.equal(
      (await skills.removeRecord(other.skill.id, { emptyOnly: true }))?.outcome,
      'not_empty',
    )
    assert.equal(await skills.removeRecord(skill.id, { emptyOnly: false }), undefined)
    assert.equal((await skills.removeRecord(skill.id, { emptyOnly: true }))?.outcome, 'removed')
    assert.deepEqual(await skills.publish(into), { outcome: 'gone' })
    assert.equal((await skills.find('greet'))?.version, 1)
  })
})
