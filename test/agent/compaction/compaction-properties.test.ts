import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compact } from '../../../src/agent/compaction/compact.ts'
import {
  applyCompaction,
  type Compaction,
  NO_COMPACTION,
} from '../../../src/agent/compaction/compaction.ts'
import { tokensOf } from '../../../src/agent/compaction/message-tokens.ts'
import { planCompaction } from '../../../src/agent/compaction/plan-compaction.ts'
import { loadsIn } from '../../../src/agent/loads.ts'
import type { Message } from '../../../src/agent/model.ts'
import { say, scriptedModel } from '../../scripted-model.ts'
import { open } from '../ask-model.ts'
import {
  assertBodies,
  assertSendable,
  assertStable,
  assistant,
  bodyOf,
  loaded,
  preloaded,
  resultOf,
  step,
  timesAsked,
  user,
} from './dialogue.ts'

const NAMES = ['letters', 'forms', 'style'] as const
const LINES = [4, 30] as const
const VERSIONS = [1, 2] as const

const bodies = new Set(
  NAMES.flatMap((name) =>
    LINES.flatMap((lines) => VERSIONS.map((version) => bodyOf(name, lines, version))),
  ),
)

const skill = fc.record({
  name: fc.constantFrom(...NAMES),
  lines: fc.constantFrom(...LINES),
  version: fc.constantFrom(...VERSIONS),
})
const outcome = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 4000 }) },
  { weight: 1, arbitrary: skill },
)
const turn = fc.record({
  words: fc.integer({ min: 1, max: 200 }),
  preload: fc.option(skill, { freq: 6 }),
  steps: fc.array(fc.array(outcome, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
  answered: fc.boolean(),
})
const turns = fc.array(turn, { minLength: 1, maxLength: 12 })

type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

/** Turns that ended well or broke off; the last still has to be answered. */
function toMessages(talk: readonly Turn[]): { messages: Message[]; request: string } {
  const messages: Message[] = []
  let request = ''
  talk.forEach(({ words, preload, steps, answered }, at) => {
    request = `Request ${at}:${' please'.repeat(words)}`
    messages.push(preload ? preloaded(preload.name, request, preload.lines) : user(request))
    steps.forEach((outcomes, stepAt) => {
      const answers = outcomes.map((one, index) => {
        const id = `call_${at}_${stepAt}_${index}`
        if (typeof one === 'number') return resultOf(id, 'out put '.repeat(one / 8))
        return loaded(id, one.name, { ...one, loads: loadsIn(messages) })
      })
      messages.push(...step(...answers))
    })
    if (answered && at < talk.length - 1) messages.push(assistant(' done'.repeat(words)))
  })
  return { messages, request }
}

function assertShown(messages: Message[], request: string, compaction: Compaction) {
  const view = applyCompaction(messages, compaction)
  assertSendable(view)
  assertBodies(view, bodies)
  assertStable(messages, compaction)
  assert.equal(timesAsked(view, request), 1, 'the request stands there once')
  for (const [name, { digest }] of loadsIn(view))
    assert.equal(digest, loadsIn(messages).get(name)?.digest, 'the newest version is shown')
  return view
}

test('what is planned can be sent, fits where it says so, and is planned once', () => {
  fc.assert(
    fc.property(turns, fc.integer({ min: 300, max: 12_000 }), (talk, limit) => {
      const { messages, request } = toMessages(talk)
      const input = { messages, overhead: 150, limit, summaries: false }
      const { compaction, tokens, fits } = planCompaction({ ...input, compaction: NO_COMPACTION })
      const view = assertShown(messages, request, compaction)
      assert.equal(tokens, 150 + tokensOf(view))
      assert.equal(fits, tokens <= limit)
      assert.deepEqual(
        view.map(({ role }) => role),
        messages.map(({ role }) => role),
      )
      if (compaction.dropped === 0) assert.deepEqual(loadsIn(view), loadsIn(messages))
      assert.equal(planCompaction({ ...input, compaction }).compaction, compaction)
    }),
    { numRuns: 200 },
  )
})

test('so it is with summaries, and while the conversation goes on', async (t) => {
  const summaries = Array.from({ length: 1000 }, (_, index) => say(`Summary ${index}. `.repeat(9)))
  const scripted = await scriptedModel(t, ...summaries)
  const model = open(t, scripted.env).open(null)
  const { signal } = new AbortController()
  let fitted = 0
  await fc.assert(
    fc.asyncProperty(
      turns,
      fc.integer({ min: 700, max: 8000 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
      async (talk, limit, tries) => {
        let compaction: Compaction = NO_COMPACTION
        for (const [index, forced] of tries.entries()) {
          // Each try sees a few more turns than the one before.
          const seen = Math.ceil((talk.length * (index + 1)) / tries.length)
          const { messages, request } = toMessages(talk.slice(0, seen))
          const input = { model, messages, overhead: 150, limit, signal }
          const result = await compact({ ...input, compaction, forced })
          assertShown(messages, request, result.compaction)
          assert.deepEqual(result.view, applyCompaction(messages, result.compaction))
          assert.equal(result.tokens, 150 + tokensOf(result.view))
          if (result.fits) {
            assert.ok(result.tokens <= limit)
            assert.equal((await compact({ ...input, ...result })).changed, false)
            fitted++
          }
          compaction = result.compaction
        }
      },
    ),
    { numRuns: 100 },
  )
  assert.ok(fitted > 50, `${fitted} fitted`)
  assert.ok(scripted.requests.length > 20, `${scripted.requests.length} summaries`)
})
