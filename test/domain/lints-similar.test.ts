import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSimilar } from '../../src/domain/lints/similar.ts'

const REFUND = 'Handles refunds of tickets. Use when a customer wants the money for an order back.'

type Descriptions = Parameters<typeof findSimilar>

function find(...descriptions: Descriptions): { names: string[]; pauses: number } {
  const search = findSimilar(...descriptions)
  let pauses = 0
  for (let step = search.next(); ; step = search.next()) {
    if (step.done) return { names: step.value, pauses }
    pauses++
  }
}

const rivalsOf = (description: string, ...others: string[]) =>
  find(
    { name: 'new', description },
    others.map((other, index) => ({ name: `old-${index}`, description: other })),
  ).names

const SIMILAR: [title: string, a: string, b: string][] = [
  ['the same text', REFUND, REFUND],
  [
    'other forms of the words',
    REFUND,
    'Handling the refund of a ticket; use it when customers want their money for orders back!',
  ],
  [
    'a few other words',
    'Reviews pull requests for bugs and style. Use when somebody asks for a code review.',
    'Reviews pull requests for bugs and security. Use when a code review is asked for.',
  ],
  [
    'Chinese',
    '处理客户的退款请求，查询订单并计算金额。当客户要求退款时使用。',
    '处理客户退款请求，查询订单、计算金额，客户要求退款的时候使用。',
  ],
]
for (const [title, a, b] of SIMILAR) {
  test(`similar: ${title}`, () => {
    assert.deepEqual(rivalsOf(a, b), ['old-0'])
    assert.deepEqual(rivalsOf(b, a), ['old-0'])
  })
}

const APART: [title: string, a: string, b: string][] = [
  [
    'only words of every description',
    'Use this skill when the user asks.',
    'Use when it is asked.',
  ],
  ['too little to tell', 'Writes mail.', 'Writes mail.'.replace('mail', 'code')],
  [
    'one frame for different things',
    'Creates presentations from an outline. Use when the user asks for slides.',
    'Creates invoices from a list of hours. Use when the user asks for a bill.',
  ],
  [
    'one field, different tasks',
    REFUND,
    'Explains the seats of a venue. Use when a customer asks where a ticket is.',
  ],
  ['Chinese', '处理客户的退款请求。需要时使用。', '整理棚子里的工具，需要时使用。'],
]
for (const [title, a, b] of APART) {
  test(`not similar: ${title}`, () => assert.deepEqual(rivalsOf(a, b), []))
}

test('a skill is not similar to itself, and the nearest five come first', () => {
  const own = { name: 'refund', description: REFUND }
  assert.deepEqual(find(own, [own, { ...own }]).names, [])
  const near = Array.from({ length: 8 }, (_, index) => ({
    name: `n-${index}`,
    description: `${REFUND} ${'Also trains, ships, planes, buses, boats, trams, taxis, bikes.'.split(' ').slice(index).join(' ')}`,
  }))
  assert.deepEqual(find(own, near).names, ['n-7', 'n-6', 'n-5', 'n-4', 'n-3'])
})

test('ten thousand descriptions are read once, with pauses, however often they are compared', () => {
  let reads = 0
  const others = Array.from({ length: 10_000 }, (_, index) => ({
    name: `n-${index}`,
    get description() {
      reads++
      return `Sorts the box ${index} of the shelf ${index % 7}. Use when somebody tidies up.`
    },
  }))
  const search = findSimilar({ name: 'new', description: REFUND }, others)
  for (let before = reads, step = search.next(); !step.done; step = search.next()) {
    assert.ok(reads - before <= 25)
    before = reads
  }
  for (let round = 0; round < 5; round++) {
    const { names, pauses } = find({ name: 'new', description: REFUND }, others)
    assert.deepEqual([names, pauses], [[], 400])
  }
  assert.equal(reads, 10_000)
})

test('a description as long as a body is compared by its beginning', () => {
  const long = `${REFUND} ${'and so on '.repeat(200_000)}`
  assert.deepEqual(rivalsOf(long, long), ['old-0'])
})
