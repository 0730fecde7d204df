import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEmbeddingStore } from '../../src/store/embedding-store.ts'
import { onEachDatabase } from './databases.ts'

const vector = (...values: number[]) => Float32Array.from(values)

onEachDatabase('the store of embeddings', (open) => {
  test('gives back what it was given, of that model', async (t) => {
    const store = createEmbeddingStore(await open(t))
    const vectors = new Map([
      ['h1', vector(0.25, -1, 1e-20)],
      ['h2', vector(1, 2, 3)],
    ])
    await store.save('small', vectors)
    await store.save('large', new Map([['h1', vector(9)]]))
    assert.deepEqual(await store.find('small', ['h1', 'h2', 'h3']), vectors)
    assert.deepEqual(await store.find('large', ['h1', 'h2']), new Map([['h1', vector(9)]]))
    assert.deepEqual(await store.find('none', ['h1']), new Map())
    assert.deepEqual(await store.find('small', []), new Map())
    await store.save('small', new Map())
  })

  test('keeps the first of two vectors of a text', async (t) => {
    const store = createEmbeddingStore(await open(t))
    await store.save('small', new Map([['h', vector(1)]]))
    const more = new Map([
      ['h', vector(2)],
      ['i', vector(3)],
    ])
    await store.save('small', more)
    const kept = [...(await store.find('small', ['h', 'i'])).values()]
    assert.deepEqual(kept.map(([value]) => value).sort(), [1, 3])
  })

  test('sweeps what is not needed, and what other models made', async (t) => {
    const store = createEmbeddingStore(await open(t))
    const hashes = Array.from({ length: 450 }, (_, at) => `hash-${at}`)
    for (const model of ['a', 'small', 'z']) {
      await store.save(model, new Map(hashes.map((hash) => [hash, vector(1)])))
    }
    const needed = new Set(['hash-0', 'hash-7', 'hash-449', 'not there'])
    await store.sweep('small', needed)
    const left = await store.find('small', hashes)
    assert.deepEqual([...left.keys()].sort(), ['hash-0', 'hash-449', 'hash-7'])
    for (const model of ['a', 'z']) assert.equal((await store.find(model, hashes)).size, 0)
    await store.sweep('small', new Set())
    assert.equal((await store.find('small', hashes)).size, 0)
  })
})
