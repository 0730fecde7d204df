import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  applyCompaction,
  type Compaction,
  NO_COMPACTION,
} from '../../../src/agent/compaction/compaction.ts'
import { tokensOf } from '../../../src/agent/compaction/message-tokens.ts'
import { planCompaction } from '../../../src/agent/compaction/plan-compaction.ts'
import { loadsIn } from '../../../src/agent/loads.ts'
import type { Message } from '../../../src/agent/model.ts'
import {
  assertSendable,
  assertStable,
  assistant,
  bodyOf,
  loaded,
  preloaded,
  resultOf,
  results,
  step,
  user,
} from './dialogue.ts'

const text = (length: number) => 'some words of a text '.repeat(length / 21 + 1).slice(0, length)

/** Results of one call each, all of which the model has seen. */
const reads = (count: number, length: number): Message[] => [
  user('Read them.'),
  ...Array.from({ length: count }, (_, index) => step(resultOf(`c${index}`, text(length)))).flat(),
  assistant('Done.'),
]

const plan = (messages: Message[], limit: number, compaction: Compaction = NO_COMPACTION) =>
  planCompaction({ messages, compaction, overhead: 100, limit })

const shown = (messages: Message[], compaction: Compaction) =>
  results(applyCompaction(messages, compaction))

const REFERENCE = (id: string, characters: string) =>
  `[The output of this call (${characters} characters) is stored as tool result ${id}.]`

suite('under the limit', () => {
  for (const [what, messages] of [
    ['a short conversation', [user('Hi'), assistant('Hello.')]],
    ['one with results', reads(5, 1000)],
  ] as const) {
    test(`${what} is sent as it is`, () => {
      const limit = 100 + tokensOf(messages)
      const { compaction, tokens, fits } = plan([...messages], limit)
      assert.equal(compaction, NO_COMPACTION)
      assert.equal(applyCompaction(messages, compaction), messages)
      assert.deepEqual({ tokens, fits }, { tokens: limit, fits: true })
    })
  }
})

test('the oldest results become references, until four fifths of the limit are met', () => {
  const messages = reads(5, 1000)
  const whole = 100 + tokensOf(messages)
  const { compaction, tokens, fits } = plan(messages, whole - 10)
  assert.equal(fits, true)
  assert.ok(tokens <= 0.8 * (whole - 10))
  assert.deepEqual(shown(messages, compaction), [
    REFERENCE('c0', '1,000'),
    REFERENCE('c1', '1,000'),
    text(1000),
    text(1000),
    text(1000),
  ])
  assert.equal(tokens, 100 + tokensOf(applyCompaction(messages, compaction)))
  assert.equal(applyCompaction(messages, compaction).length, messages.length)
  assertStable(messages, compaction)
})

test('a second compaction without new messages changes nothing', () => {
  const messages = reads(9, 1000)
  const first = plan(messages, 1500)
  assert.equal(first.fits, true)
  assert.equal(plan(messages, 1500, first.compaction).compaction, first.compaction)
})

test('a giant result that the model has not seen is shortened before anything else', () => {
  const messages = [...reads(3, 1000), user('More.'), ...step(resultOf('giant', text(60_000)))]
  const { compaction, fits } = plan(messages, 10_000)
  assert.equal(fits, true)
  assert.deepEqual(compaction.references, [{ callId: 'giant', head: 2000 }])
  const view = applyCompaction(messages, compaction)
  assert.equal(view.length, messages.length)
  assert.equal(
    results(view).at(-1),
    `${text(2000)}\n[The first 2,000 of 60,000 characters. The whole output of this call is stored as tool result giant.]`,
  )
  assert.deepEqual(results(view).slice(0, 3), results(messages).slice(0, 3))
  assertSendable(view)
})

test('unseen results stay whole while older ones are enough', () => {
  const messages = [
    ...reads(8, 4000),
    user('More.'),
    ...step(resultOf('a', text(4000)), resultOf('b', text(4000))),
  ]
  const limit = 100 + tokensOf(messages) - 10
  const { compaction } = plan(messages, limit)
  const view = shown(messages, compaction)
  assert.equal(view[0], REFERENCE('c0', '4,000'))
  assert.deepEqual(view.slice(-5), results(messages).slice(-5))
})

test('the newest results keep their beginning, the largest shortened first', () => {
  const messages = [
    user('Read.'),
    ...step(
      resultOf('a', text(3000)),
      resultOf('b', text(9000)),
      resultOf('c', text(119)),
      resultOf('d', text(4000)),
    ),
  ]
  const whole = tokensOf(messages) + 100
  const heads = (limit: number) => plan(messages, limit).compaction.references
  assert.deepEqual(heads(whole - 1), [{ callId: 'b', head: 2000 }])
  assert.deepEqual(
    heads(Math.floor(whole / 2)).map(({ callId }) => callId),
    ['b', 'd', 'a'],
  )
  const tight = plan(messages, 1100)
  assert.equal(tight.fits, true)
  assert.ok(tight.compaction.references.some(({ head }) => head === 1000))
  assert.equal(shown(messages, tight.compaction)[2], text(119), 'a short result is left alone')
})

test('a result that was shown with its beginning becomes a reference once it is old', () => {
  const giant = [user('Read.'), ...step(resultOf('giant', text(60_000)))]
  const first = plan(giant, 4000)
  const messages = [...giant, ...reads(20, 3000)]
  const { compaction } = plan(messages, 4000, first.compaction)
  assert.equal(shown(messages, compaction)[0], REFERENCE('giant', '60,000'))
})

test('an error result stays one, and half of a character is never shown', () => {
  const failed = resultOf('c', `${'x'.repeat(1999)}😀${text(5000)}`)
  const messages = [
    user('Read.'),
    ...step({
      ...failed,
      output: { type: 'error-text', value: `${'x'.repeat(1999)}😀${text(5000)}` },
    }),
  ]
  const { compaction } = plan(messages, 900)
  const [, , tool] = applyCompaction(messages, compaction)
  const part = tool?.role === 'tool' ? tool.content[0] : undefined
  assert.ok(part?.type === 'tool-result' && part.output.type === 'error-text')
  assert.ok(part.output.value.isWellFormed() && part.output.value.startsWith('x'.repeat(1000)))
})

suite('the texts of skills', () => {
  const long = [
    preloaded('style', 'Write it.', 20),
    ...step(loaded('l1', 'letters', { lines: 20 })),
    ...reads(12, 2000).slice(1),
  ]

  test('stay while results can be shortened', () => {
    const { compaction, fits } = plan(long, 2500)
    assert.equal(fits, true)
    const view = applyCompaction(long, compaction)
    assert.deepEqual([...loadsIn(view).keys()], ['style', 'letters'])
    assert.equal(results(view)[0], bodyOf('letters', 20))
  })

  test('are left out, oldest first, where nothing else is left to shorten', () => {
    const messages = [
      preloaded('style', 'Write it.', 60),
      ...step(loaded('l1', 'letters', { lines: 60 }), loaded('l2', 'forms', { lines: 60 })),
    ]
    const whole = 100 + tokensOf(messages)
    const { compaction, fits } = plan(messages, Math.ceil(whole * 0.75))
    assert.equal(fits, true)
    assert.equal(compaction.dropped, 2)
    const view = applyCompaction(messages, compaction)
    assert.deepEqual([...loadsIn(view).keys()], ['forms'])
    assert.match(JSON.stringify(view), /skill \\"style\\" \(version 1\) was loaded here/)
    assertSendable(view)
    assertStable(messages, compaction)
  })

  test('are not given up in vain', () => {
    const messages = [preloaded('style', text(20_000))]
    const { compaction, fits } = plan(messages, 1000)
    assert.equal(fits, false)
    assert.equal(compaction, NO_COMPACTION)
  })
})

test('a summary is asked for where references are not enough, between two rounds', () => {
  const messages = Array.from({ length: 20 }, (_, index) => [
    user(`Question ${index}: ${text(400)}`),
    ...step(resultOf(`c${index}`, text(119))),
    assistant(text(400)),
  ]).flat()
  const { summarise, fits } = plan(messages, 2500)
  assert.equal(fits, false)
  assert.equal(summarise?.from, 0)
  const to = summarise?.to ?? 0
  assert.ok(to <= messages.length - 5, 'the newest five stay')
  assert.notEqual(messages[to]?.role, 'tool')
})

/** It takes a second or two, and minutes if it were quadratic. */
test('planning takes time in proportion to the messages', { timeout: 60_000 }, () => {
  const loads = Array.from({ length: 300 }, (_, index) => step(loaded(`l${index}`, `s${index}`)))
  const messages = [...reads(20_000, 200).slice(0, -1), ...loads.flat(), assistant('Done.')]
  assert.ok(messages.length > 40_000)
  for (const limit of [900_000, 50_000, 2000]) plan(messages, limit)
})
