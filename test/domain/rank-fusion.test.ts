import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuseRankings } from '../../src/domain/rank-fusion.ts'

const namesOf = (...rankings: string[][]) => fuseRankings(...rankings).map(({ name }) => name)

test('one ranking stays as it is', () => {
  assert.deepEqual(namesOf(['b', 'a', 'c'], []), ['b', 'a', 'c'])
  assert.deepEqual(namesOf([], ['b', 'a', 'c']), ['b', 'a', 'c'])
  assert.deepEqual(namesOf([], []), [])
})

test('what both rankings name is before what one of them names first', () => {
  assert.deepEqual(namesOf(['a', 'both'], ['b', 'both']), ['both', 'a', 'b'])
})

test('a name is worth the sum of 1 / (60 + place)', () => {
  assert.deepEqual(fuseRankings(['a', 'b'], ['b']), [
    { name: 'b', score: 1 / 62 + 1 / 61 },
    { name: 'a', score: 1 / 61 },
  ])
})

test('of equals the earlier ranking decides', () => {
  assert.deepEqual(namesOf(['z'], ['a']), ['z', 'a'])
  assert.deepEqual(namesOf(['x', 'y'], ['y', 'x']), ['x', 'y'])
})
