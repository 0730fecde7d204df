import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_COMPACTION } from '../../../src/agent/compaction/compaction.ts'
import { tokensOf } from '../../../src/agent/compaction/message-tokens.ts'
import { planCompaction } from '../../../src/agent/compaction/plan-compaction.ts'
import type { Message } from '../../../src/agent/model.ts'
import { assistant, resultOf, step, user } from './dialogue.ts'

const text = (length: number) => 'some words of a text '.repeat(length / 21 + 1).slice(0, length)

const plan = (messages: Message[], limit: number, target?: number) =>
  planCompaction({
    messages,
    compaction: NO_COMPACTION,
    overhead: 0,
    limit,
    ...(target !== undefined && { target }),
  })

test('of seen results the newest three keep their beginning, the older ones nothing', () => {
  const reads = ['a', 'b', 'c', 'd', 'e'].flatMap((id) => step(resultOf(id, text(6000))))
  const messages = [user('Read them.'), ...reads, assistant('Done.')]
  const { references } = plan(messages, 2300).compaction
  assert.deepEqual(references.map(({ callId, head }) => [callId, head > 0]).sort(), [
    ['a', false],
    ['b', false],
    ['c', true],
    ['d', true],
    ['e', true],
  ])
})

test('an unseen result goes before the older ones only when it takes over a third of the limit', () => {
  const messages = (size: number) => [
    user('Read them.'),
    ...Array.from('abcdefghijkl', (id) => step(resultOf(id, text(3000)))).flat(),
    user('And this.'),
    ...step(resultOf('new', text(size))),
  ]
  const firstOf = (size: number, share: number) => {
    const own = tokensOf(step(resultOf('new', text(size))).slice(1))
    const { references } = plan(messages(size), Math.floor(own / share), 0).compaction
    return references[0]?.callId
  }
  assert.equal(firstOf(12_000, 0.36), 'new')
  assert.equal(firstOf(12_000, 0.31), 'a')
})

test('a result of less than 120 characters is left alone, a longer one is not', () => {
  // Words of many tokens, so that a reference is shorter than either.
  const dense = (length: number) => '§¶ß€'.repeat(length).slice(0, length)
  const messages = [
    user('Read them.'),
    ...[119, 120, 121, 122, 123].flatMap((length) => step(resultOf(`c${length}`, dense(length)))),
    ...['x', 'y', 'z'].flatMap((id) => step(resultOf(id, text(200)))),
    assistant('Done.'),
  ]
  const shortened = plan(messages, 1).compaction.references.map(({ callId }) => callId)
  assert.deepEqual(
    shortened.filter((id) => id.startsWith('c')),
    ['c120', 'c121', 'c122', 'c123'],
  )
})

test('a summary that must reach far leaves the newest five messages as they are', () => {
  const messages = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? user(text(2000)) : assistant(text(2000)),
  )
  const { tokens } = plan(messages, 1_000_000)
  const newestFive = tokensOf(messages.slice(-5))
  // There is room for them and a summary, but not for half as much.
  const limit = Math.ceil(newestFive * 1.9)
  assert.ok(limit < tokens)
  assert.deepEqual(plan(messages, limit).summarise, { from: 0, to: 15 })
})
