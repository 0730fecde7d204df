import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SkillUse } from '../../src/store/skill-uses.ts'
import { createUsageStore } from '../../src/store/usage-store.ts'
import { begin, beginTurn, create, openChats, says, state, step } from './chat-fixtures.ts'
import { type Open, onEachDatabase } from './databases.ts'

const use = (kind: SkillUse['kind'], more: Partial<SkillUse> = {}): SkillUse => ({
  skill: 'pdf',
  version: kind === 'denied' ? null : 1,
  kind,
  tokens: 0,
  step: 1,
  ...more,
})

const NOTHING = { loads: 0, repeats: 0, denials: 0, reads: 0, tokens: 0, lastUsedAt: null }
const NO_TOKENS = { catalog: 0, bodies: 0, inlined: 0 }

async function openUsage(t: TestContext, open: Open) {
  const { db, chats } = await openChats(t, open)
  const usage = createUsageStore(db)
  return {
    usage,
    chats,
    /** A turn that uses skills and makes model calls, each with a revision and what it was sent. */
    async turn(id: string, after: string | null, uses: SkillUse[], calls: number[][] = []) {
      const { id: turnId } = await beginTurn(chats, id, after)
      for (const [index, call] of calls.entries()) {
        const [revision = 0, catalog = 0, bodies = 0, inlined = 0] = call
        const made = step(index + 1, { revision, tokens: { catalog, bodies, inlined } })
        const record = { step: made, messages: [says('')], calls: [], tokens: 0 }
        await chats.saveStep(turnId, record, state('running'))
      }
      await chats.saveResults(turnId, [], undefined, state('completed'), { uses })
      return turnId
    },
  }
}

onEachDatabase('the use of skills', (open) => {
  test('is nothing before anything was used', async (t) => {
    const { usage } = await openUsage(t, open)
    assert.deepEqual(await usage.ofSkill('pdf'), { ...NOTHING, versions: [] })
    assert.deepEqual(await usage.total(), {
      ...NOTHING,
      conversations: 0,
      turns: 0,
      modelCalls: 0,
      sent: NO_TOKENS,
      fresh: NO_TOKENS,
    })
  })

  test('is counted by kind and by version, newest first, and for one skill alone', async (t) => {
    const { usage, chats, turn } = await openUsage(t, open)
    const one = await create(chats)
    await turn(one, null, [
      use('load', { tokens: 700 }),
      use('repeat', { tokens: 20 }),
      use('repeat', { tokens: 20, step: 2 }),
      use('denied', { step: 2 }),
      use('read', { tokens: 90, step: 3 }),
      use('load', { skill: 'csv', version: 4, tokens: 300 }),
    ])
    await turn(await create(chats), null, [
      use('load', { version: 10, tokens: 800 }),
      use('load', { version: 2, tokens: 750 }),
    ])
    const { versions, lastUsedAt, ...sum } = await usage.ofSkill('pdf')
    assert.deepEqual(sum, { loads: 3, repeats: 2, denials: 1, reads: 1, tokens: 2380 })
    assert.deepEqual(
      versions.map(({ lastUsedAt: _, ...version }) => version),
      [
        { version: 10, loads: 1, repeats: 0, denials: 0, reads: 0, tokens: 800 },
        { version: 2, loads: 1, repeats: 0, denials: 0, reads: 0, tokens: 750 },
        { version: 1, loads: 1, repeats: 2, denials: 0, reads: 1, tokens: 830 },
        { version: null, loads: 0, repeats: 0, denials: 1, reads: 0, tokens: 0 },
      ],
    )
    assert.equal(
      lastUsedAt,
      versions
        .map((version) => version.lastUsedAt)
        .toSorted()
        .at(-1),
    )
    assert.match(lastUsedAt ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.equal((await usage.ofSkill('csv')).loads, 1)
    const total = await usage.total()
    assert.deepEqual([total.loads, total.repeats, total.tokens], [4, 2, 2680])
  })

  test('is counted where a turn begins with it, and where messages bring it', async (t) => {
    const { usage, chats } = await openUsage(t, open)
    const id = await create(chats)
    const uses = [use('load', { step: 0, tokens: 10 })]
    const turn = await chats.beginTurn(id, { ...begin, uses, state: state('running') })
    assert.ok(turn)
    await chats.saveMessages(turn.id, [says('')], [use('load', { version: 2, tokens: 5 })])
    assert.deepEqual(
      (await usage.ofSkill('pdf')).versions.map(({ version, tokens }) => [version, tokens]),
      [
        [2, 5],
        [1, 10],
      ],
    )
  })

  test('sums what was sent, and of that what was new in its conversation', async (t) => {
    const { usage, chats, turn } = await openUsage(t, open)
    const one = await create(chats)
    const first = await turn(
      one,
      null,
      [use('load', { tokens: 50 }), use('repeat', { tokens: 5 }), use('read', { tokens: 20 })],
      [
        [7, 100, 0, 1000],
        [7, 100, 50, 1000],
      ],
    )
    await turn(one, first, [], [[8, 120, 50, 1200]])
    await turn(await create(chats), null, [], [[7, 100, 0, 1000]])
    const { conversations, turns, modelCalls, sent, fresh } = await usage.total()
    assert.deepEqual([conversations, turns, modelCalls], [2, 3, 4])
    assert.deepEqual(sent, { catalog: 420, bodies: 100, inlined: 4200 })
    assert.deepEqual(fresh, { catalog: 320, bodies: 50, inlined: 3200 })
  })

  test('is counted outside of conversations, where no tokens were sent by us', async (t) => {
    const { usage, turn, chats } = await openUsage(t, open)
    await turn(await create(chats), null, [use('load', { tokens: 50 })], [[7, 100, 50, 1000]])
    await usage.record(use('load', { tokens: 30, step: 0 }), 'key_1')
    await usage.record(use('read', { version: 2, tokens: 5, step: 0 }), null)
    const { loads, reads, tokens, versions } = await usage.ofSkill('pdf')
    assert.deepEqual([loads, reads, tokens, versions.length], [2, 1, 85, 2])
    const { conversations, turns, fresh, loads: all } = await usage.total()
    assert.deepEqual([conversations, turns, all], [1, 1, 2])
    assert.deepEqual(fresh, { catalog: 100, bodies: 50, inlined: 1000 })
  })

  test('stays counted when its conversation is deleted, whose tokens are not', async (t) => {
    const { usage, chats, turn } = await openUsage(t, open)
    const [one, other] = [await create(chats), await create(chats)]
    const calls = [
      [7, 100, 0, 1000],
      [7, 100, 50, 1000],
    ]
    await turn(one, null, [use('load', { tokens: 50 })], calls)
    await turn(other, null, [use('load', { tokens: 50 })], calls)
    await chats.remove(one)
    const { loads, conversations, turns, modelCalls, sent, fresh } = await usage.total()
    assert.deepEqual([loads, conversations, turns, modelCalls], [2, 1, 1, 2])
    assert.deepEqual(sent, { catalog: 200, bodies: 50, inlined: 2000 })
    assert.deepEqual(fresh, { catalog: 100, bodies: 50, inlined: 1000 })
    assert.equal((await usage.ofSkill('pdf')).loads, 2)
  })
})
