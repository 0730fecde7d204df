import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toId, toSeq } from '../../src/store/ids.ts'

test('ids sort like the numbers that they are made from', () => {
  const numbers = [1, 9, 10, 35, 36, 999, 46_656, 2 ** 31, 36 ** 8 - 1]
  const ids = numbers.map((number) => toId('skill', number))
  assert.deepEqual(ids.toSorted(), ids)
  assert.deepEqual(
    ids.map((id) => toSeq('skill', id)),
    numbers,
  )
})

test('a malformed id is no number that a row has', () => {
  for (const id of [
    '',
    'conv_',
    'conv_1',
    'conv_0000000A',
    'turn_00000001',
    'conv_000000012',
    'conv_00000001\n',
  ]) {
    assert.equal(toSeq('conv', id), 0)
  }
})
