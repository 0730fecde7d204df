import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { occurrences } from '../agent/talk.ts'
import { get, put } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { BODY_LINE } from './shop-fixtures.ts'
import { converse, shop, toolResults } from './ticket-shop.ts'

const SHIPPED = [
  'agent-builder',
  'code-review',
  'complaint-de-escalation',
  'group-booking',
  'mcp-builder',
  'pdf',
  'reschedule-dispute',
]

suite('what ep09 paid for, and what is paid here', { concurrency: 2 }, () => {
  test('N8: the first calls of the three conversations cost the same within 2 %', async (t) => {
    const { app, requests } = await shop(t, say('好。'), say('好。'), say('好。'))
    for (const message of ['KL-901 想改期', '我要投诉！', '订 15 张票'])
      await converse(app, { message })
    const costs = requests.map(({ body: { system, tools } }) =>
      countTokens(JSON.stringify([system, tools])),
    )
    assert.equal(costs.length, 3)
    assert.ok(Math.max(...costs) <= Math.min(...costs) * 1.02, String(costs))
  })

  test('E9-03: each skill’s name stands once in what the first call sends', async (t) => {
    const { app } = await shop(t, say('好。'))
    const turn = await converse(app, { message: '你好' })
    const path = `/conversations/${turn.conversation_id}/turns/${turn.id}/prompt`
    const { system, tools } = (await get(app, path)).json()
    const sent = JSON.stringify([system, tools])
    for (const name of SHIPPED) {
      assert.equal(sent.match(new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'g'))?.length, 1, name)
    }
  })

  test('E9-05, N11: a second load costs at most 60 tokens and brings no second body', async (t) => {
    const again = load('reschedule-dispute')
    const { app, sent } = await shop(t, again, again, say('好。'), again, say('好。'))
    const first = await converse(app, { message: '改期' })
    const next = await converse(app, { conversation_id: first.conversation_id, message: '再看看' })
    for (const [turn, step] of [
      [first, 2],
      [next, 1],
    ] as const) {
      const { digest, tokens, ...repeat } = turn.receipt.loaded.at(-1)
      assert.deepEqual(repeat, { name: 'reschedule-dispute', version: 1, step, repeat: true })
      const output = toolResults(turn.messages).at(-1)?.output ?? ''
      assert.ok(tokens <= 60 && countTokens(output) <= 60, output)
    }
    const last = sent().at(-1)
    assert.equal(last && occurrences(last, BODY_LINE), 1)
    const { loaded_skills } = (await get(app, `/conversations/${first.conversation_id}`)).json()
    assert.equal(loaded_skills.length, 1)
  })

  test('W-08: after a PUT the body is sent again, and the result says so', async (t) => {
    const reload = load('reschedule-dispute')
    const { app, sent } = await shop(t, reload, say('好。'), reload, reload, say('好。'))
    const { conversation_id } = await converse(app, { message: '改期' })
    const before = (await get(app, '/skills/reschedule-dispute/content')).body
    const after = before.replace(BODY_LINE, `${BODY_LINE}（新）`)
    assert.equal((await put(app, 'reschedule-dispute', after)).statusCode, 200)

    const turn = await converse(app, { conversation_id, message: '再改' })
    assert.deepEqual(
      turn.receipt.loaded.map(({ version, repeat }: { version: number; repeat: boolean }) => [
        version,
        repeat,
      ]),
      [
        [2, false],
        [2, true],
      ],
    )
    const [again, short] = toolResults(turn.messages)
    assert.match(again?.output ?? '', /（新）[\s\S]*version 2.*replaces version 1/)
    assert.doesNotMatch(short?.output ?? '', /（新）/)
    const last = sent().at(-1)
    assert.equal(last && occurrences(last, `${BODY_LINE}（新）`), 1)
    const { loaded_skills } = (await get(app, `/conversations/${conversation_id}`)).json()
    assert.deepEqual(
      loaded_skills.map(({ version }: { version: number }) => version),
      [2],
    )
  })

  for (const [what, message, answer] of [
    ['a greeting', '你好', say('您好！')],
    ['a question on usage', 'KL-778 怎么入园？', undefined],
  ] as const) {
    test(`${what} loads nothing`, async (t) => {
      const usage = call('get_policy', { product_id: 'SKU-1001', topic: 'usage' })
      const { app } = await shop(t, ...(answer ? [answer] : [usage, say('扫码入园。')]))
      const turn = await converse(app, { message }, '王小姐')
      assert.equal(turn.status, 'completed')
      assert.deepEqual(turn.receipt.loaded, [])
      assert.deepEqual(turn.ran, answer ? [] : ['get_policy'])
    })
  }
})
