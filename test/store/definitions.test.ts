import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDefinitionStore } from '../../src/store/definition-store.ts'
import { createIdempotencyStore } from '../../src/store/idempotency-store.ts'
import { onEachDatabase } from './databases.ts'

interface Note {
  text: string
}

const put = 'put as the first of its name'

onEachDatabase('the store of definitions', (open) => {
  test('keeps what was put, as it was put', async (t) => {
    const store = createDefinitionStore<Note>(await open(t), 'tools')
    assert.equal(await store.find('a'), undefined)
    const text = 'NUL \0, half a character \ud800, 😀'
    const written = await store.put('a', { text })
    assert.deepEqual([written.outcome, written.defined?.definition], ['created', { text }])
    const found = await store.find('a')
    assert.deepEqual(found, written.defined)
    assert.equal(found?.createdAt, found?.updatedAt)
  })

  test('says whether a put made, changed or left it', async (t) => {
    const store = createDefinitionStore<Note>(await open(t), 'agents')
    const first = await store.put('a', { text: put })
    const same = await store.put('a', { text: put })
    assert.deepEqual(same, { outcome: 'unchanged', defined: first.defined })
    const other = await store.put('a', { text: 'another' })
    assert.equal(other.outcome, 'updated')
    assert.equal(other.defined?.createdAt, first.defined?.createdAt)
    assert.ok(Number(other.defined?.revision) > Number(first.defined?.revision))
  })

  test('never gives a revision twice, though it was deleted in between', async (t) => {
    const store = createDefinitionStore<Note>(await open(t), 'agents')
    const revisions = new Set<number | undefined>()
    for (let round = 0; round < 3; round++) {
      revisions.add((await store.put('a', { text: put })).defined?.revision)
      assert.deepEqual(await store.remove('a'), { outcome: 'removed' })
    }
    assert.equal(revisions.size, 3)
    assert.equal(await store.remove('a'), undefined)
  })

  test('a write goes on only when its precondition holds', async (t) => {
    const store = createDefinitionStore<Note>(await open(t), 'mcp_servers')
    const write = (precondition: 'exists' | 'absent' | { tags: string[] }, text = put) =>
      store.put('a', { text }, { precondition })
    assert.deepEqual(await write('exists'), { outcome: 'conflict', defined: undefined })
    assert.deepEqual(await write({ tags: ['1'] }), { outcome: 'conflict', defined: undefined })
    const { defined } = await write('absent')
    const tag = String(defined?.revision)
    assert.deepEqual(await write('absent'), { outcome: 'conflict', defined })
    assert.deepEqual(await write({ tags: ['0', `${tag}0`] }, 'x'), { outcome: 'conflict', defined })
    assert.equal((await write({ tags: ['0', tag] }, 'x')).outcome, 'updated')
    assert.deepEqual(await store.remove('a', { tags: [tag] }), { outcome: 'conflict' })
    assert.deepEqual(await store.remove('a', 'exists'), { outcome: 'removed' })
  })

  test('of eight that all saw one revision, one wins', async (t) => {
    const store = createDefinitionStore<Note>(await open(t), 'tools')
    const { defined } = await store.put('a', { text: put })
    const precondition = { tags: [String(defined?.revision)] }
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.put('a', { text: `change ${index}` }, { precondition }),
      ),
    )
    const updated = outcomes.filter(({ outcome }) => outcome === 'updated')
    assert.equal(updated.length, 1)
    assert.deepEqual(await store.find('a'), updated[0]?.defined)
  })

  test('lists by code point, page by page, each table for itself', async (t) => {
    const db = await open(t)
    const store = createDefinitionStore<Note>(db, 'tools')
    for (const name of ['b', 'a_1', 'a-1', 'B', 'a1']) await store.put(name, { text: name })
    await createDefinitionStore<Note>(db, 'agents').put('a0', { text: 'an agent' })
    const sorted = ['B', 'a-1', 'a1', 'a_1', 'b']
    assert.deepEqual(
      (await store.all()).map(({ name }) => name),
      sorted,
    )
    const paged: string[] = []
    for (let after: string | undefined; paged.length < 10; after = paged.at(-1)) {
      const page = await store.list({ limit: 2, ...(after !== undefined && { after }) })
      if (page.length === 0) break
      paged.push(...page.map(({ name }) => name))
    }
    assert.deepEqual(paged, sorted)
    assert.equal(await store.find('a\0'), undefined)
  })

  test('stores the answer to an idempotency key beside the effect, once', async (t) => {
    const db = await open(t)
    const store = createDefinitionStore<Note>(db, 'tools')
    const key = { owner: 'key_1', key: 'k' }
    const recording = {
      ...key,
      fingerprint: 'f',
      answer: ({ outcome, defined }: { outcome: string; defined: { revision: number } }) => ({
        status: outcome === 'created' ? 201 : 200,
        headers: {},
        body: String(defined.revision),
      }),
    }
    const { defined } = await store.put('a', { text: put }, { recording })
    const kept = await createIdempotencyStore(db).find(key)
    assert.deepEqual(kept?.answer, { status: 201, headers: {}, body: String(defined?.revision) })
    await assert.rejects(store.put('b', { text: put }, { recording }), {
      code: 'idempotency_in_flight',
    })
    assert.equal(await store.find('b'), undefined)
    const failing = {
      ...recording,
      key: 'other',
      answer: () => {
        throw new Error('no answer')
      },
    }
    await assert.rejects(store.put('c', { text: put }, { recording: failing }), /no answer/)
    assert.equal(await store.find('c'), undefined)
  })
})
