import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createArchiveCache } from '../../src/compat/well-known/archive-cache.ts'

/** What is asked for, and which of it had to be made. */
function openCache(limit: number) {
  const cached = createArchiveCache(limit)
  const made: string[] = []
  const ask = async (key: string, length: number) => {
    const bytes = await cached(key, async () => {
      made.push(key)
      return Buffer.alloc(length, key)
    })
    assert.deepEqual(bytes, Buffer.alloc(length, key))
  }
  return { ask, made }
}

test('what was used last stays, as long as there is room', async () => {
  const { ask, made } = openCache(100)
  await ask('a', 40)
  await ask('b', 40)
  await ask('a', 40)
  await ask('c', 40)
  assert.equal(made.join(''), 'abc')
  await ask('a', 40)
  await ask('c', 40)
  assert.equal(made.join(''), 'abc')
  await ask('b', 40)
  assert.equal(made.join(''), 'abcb')
})

test('what is larger than all the room is made each time, and drives nothing out', async () => {
  const { ask, made } = openCache(100)
  await ask('a', 60)
  await ask('x', 101)
  await ask('x', 101)
  await ask('a', 60)
  assert.equal(made.join(''), 'axx')
})

test('what is made twice at once counts once', async () => {
  const { ask, made } = openCache(100)
  await Promise.all([ask('a', 60), ask('a', 60)])
  await ask('b', 40)
  await ask('a', 60)
  assert.equal(made.join(''), 'aab')
})
