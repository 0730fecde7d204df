import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { nearestNames } from '../../src/domain/nearest-names.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const names = [
  'pdf-tools',
  'code-review',
  'pdf',
  'mcp-builder',
  'agent-builder',
  'reschedule-dispute',
  'group-booking',
]

const table: [wanted: string, nearest: string[]][] = [
  ['code-review', ['code-review']],
  ['code_review', ['code-review']],
  ['Code Review', ['code-review']],
  ['code-reveiw', ['code-review']],
  ['coderview', ['code-review']],
  ['códe-revíew', ['code-review']],
  ['review', ['code-review']],
  ['reviewer', ['code-review']],
  ['skills/code-review/SKILL.md', ['code-review']],
  ['pfd', ['pdf']],
  ['pdf tool', ['pdf-tools', 'pdf']],
  ['builder', ['mcp-builder', 'agent-builder']],
  ['bookings', ['group-booking']],
  ['reschedule', ['reschedule-dispute']],
  ['constructor', []],
  ['__proto__', []],
  ['../../etc/passwd', []],
  ['tea', []],
  ['代码审查', []],
  ['\u0000', []],
  ['', []],
]
for (const [wanted, nearest] of table) {
  test(`${JSON.stringify(wanted)} most likely means ${nearest.join(', ') || 'nothing here'}`, () => {
    assert.deepEqual(nearestNames(wanted, names), nearest)
  })
}

test('the best comes first, and equals come in the order of their names', () => {
  const similar = ['tea-e', 'tea-b', 'tea-a', 'tea-d', 'tea-c', 'tea', 'tea-f']
  assert.deepEqual(nearestNames('tea', similar), ['tea', 'tea-a', 'tea-b', 'tea-c', 'tea-d'])
  assert.deepEqual(nearestNames('tea', new Set(similar), 2), ['tea', 'tea-a'])
})

test('one edit is always close enough', () => {
  const edit = fc.tuple(fc.nat(), fc.constantFrom('', 'x'))
  fc.assert(
    fc.property(fc.constantFrom(...names.slice(1)), edit, (name, [at, letter]) => {
      const place = at % name.length
      const wanted = name.slice(0, place) + letter + name.slice(place + 1)
      if (wanted.length > 3) assert.ok(nearestNames(wanted, names).includes(name), wanted)
    }),
  )
})

test('any text has an answer, and the same one in any order of the names', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (wanted) => {
      assert.deepEqual(nearestNames(wanted, names), nearestNames(wanted, names.toReversed()))
    }),
  )
})

test('ten thousand names are searched in a moment, whatever is wanted', LIMIT, () => {
  const words = ['review', 'code', 'tests', 'merge', 'query', 'report', 'table', 'letter', 'tea']
  const many = Array.from({ length: 10_000 }, (_, index) =>
    [1, 3, 5, 7, 11, 13]
      .map((step) => words[(index * step) % words.length])
      .join('-')
      .slice(0, 64),
  )
  for (const wanted of ['review-cod', 'x'.repeat(10_000), 'review-code-'.repeat(1000)]) {
    nearestNames(wanted, many)
    assert.ok(nearestNames(wanted, many).length <= 5)
  }
})
