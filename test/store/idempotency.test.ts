import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdempotencyStore } from '../../src/store/idempotency-store.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import type { Published } from '../../src/store/skills.ts'
import { onEachDatabase } from './databases.ts'
import { publication } from './publication.ts'

const recordingOf = (key: string, owner = 'key_1') => ({
  owner,
  key,
  fingerprint: `asked ${key}`,
  answer: ({ outcome, skill }: Published) => ({
    status: outcome === 'created' ? 201 : 200,
    headers: { etag: `"${skill.revision}"` },
    body: JSON.stringify({ name: skill.name, nul: '\0' }),
  }),
})

onEachDatabase('the idempotency store', (open) => {
  test('keeps the first of two answers', async (t) => {
    const store = createIdempotencyStore(await open(t))
    const key = { owner: 'key_1', key: 'k' }
    const answer = { status: 409, headers: {}, body: null }
    assert.equal(await store.find(key), undefined)
    await store.save({ ...key, fingerprint: 'f' }, answer)
    await store.save({ ...key, fingerprint: 'g' }, { ...answer, status: 200 })
    assert.deepEqual(await store.find(key), { fingerprint: 'f', answer, turn: null })
    assert.equal(await store.find({ ...key, owner: 'key_2' }), undefined)
  })

  test('forgets what is old', async (t) => {
    const store = createIdempotencyStore(await open(t))
    const key = { owner: 'key_1', key: 'k' }
    await store.save({ ...key, fingerprint: 'f' }, { status: 200, headers: {}, body: null })
    await store.sweep(new Date(Date.now() - 60_000).toISOString())
    assert.ok(await store.find(key))
    await store.sweep(new Date(Date.now() + 60_000).toISOString())
    assert.equal(await store.find(key), undefined)
  })

  test('has the answer of a write that was recorded, to be given again', async (t) => {
    const db = await open(t)
    const [store, skills] = [createIdempotencyStore(db), createSkillStore(db)]
    const recording = recordingOf('k')
    const published = await skills.publish(publication('greet'), recording)
    assert.ok('skill' in published)
    assert.deepEqual(await store.find(recording), {
      fingerprint: 'asked k',
      answer: recording.answer(published),
      turn: null,
    })

    const unchanged = await skills.publish(publication('greet'), recordingOf('k2'))
    assert.equal(unchanged.outcome, 'unchanged')
    assert.equal((await store.find(recordingOf('k2')))?.answer?.status, 200)

    const answer = { status: 200, headers: {}, body: 'changed' }
    const change = { owner: 'key_1', key: 'k3', fingerprint: 'f', answer: () => answer }
    await skills.change('greet', { enabled: false }, change)
    assert.deepEqual((await store.find(change))?.answer, answer)
  })

  test('a key that was used stops the write as a whole', async (t) => {
    const db = await open(t)
    const [store, skills] = [createIdempotencyStore(db), createSkillStore(db)]
    await skills.publish(publication('greet'), recordingOf('k'))
    const inFlight = { code: 'idempotency_in_flight' }
    await assert.rejects(skills.publish(publication('other'), recordingOf('k')), inFlight)
    const change = { ...recordingOf('k'), answer: () => ({ status: 200, headers: {}, body: null }) }
    await assert.rejects(skills.change('greet', { enabled: false }, change), inFlight)
    assert.equal(await skills.find('other'), undefined)
    assert.equal((await skills.find('greet'))?.enabled, true)
    assert.equal(await skills.revision(), 1)
    assert.equal(
      (await skills.publish(publication('other'), recordingOf('k', 'key_2'))).outcome,
      'created',
    )
    assert.ok(await store.find(recordingOf('k', 'key_2')))
  })

  test('a refused write records nothing', async (t) => {
    const db = await open(t)
    const [store, skills] = [createIdempotencyStore(db), createSkillStore(db)]
    await skills.publish(publication('greet'))
    await skills.publish(publication('greet', { createOnly: true }), recordingOf('k'))
    assert.equal(await store.find(recordingOf('k')), undefined)
  })

  test('of writes with one key at the same moment one has an effect', async (t) => {
    const skills = createSkillStore(await open(t))
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () =>
        skills.publish(publication('greet', { createOnly: true }), recordingOf('k')),
      ),
    )
    const codes = results.map((result) =>
      result.status === 'fulfilled' ? result.value.outcome : result.reason.code,
    )
    assert.deepEqual(codes.sort(), ['created', ...Array(5).fill('idempotency_in_flight')])
  })
})
