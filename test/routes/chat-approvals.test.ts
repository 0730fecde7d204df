import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { talk, temporaryFolder, tool } from '../agent/talk.ts'
import { putAgent, toolShop } from '../agent/tool-shop.ts'
import { buildTestApp, chat, get, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, send } from '../requests.ts'
import { atOnce, call, load, type Said, say } from '../scripted-model.ts'

const done = say('Done.')
const cancel = call('cancel', { id: '7' }, 'call_cancel')

/** A turn that waits for an approval, and for whatever else the first answer asks for. */
async function waiting(t: TestContext, first: Said = cancel, script: Said[] = [done], env = {}) {
  const shop = await toolShop(t)
  const talking = await talk(t, [first, ...script], {
    env: { ...shop.env, ...env },
    skills: [skillMd('greet')],
  })
  await shop.add(talking.app, 'cancel', { approval: true })
  await shop.add(talking.app, 'look', { method: 'GET' })
  const turn = await talking.ask({ message: 'Cancel it.', tools: [tool('mine')] })
  const { conversation_id } = turn
  const give = (body: object, app: TestApp = talking.app) => chat(app, { conversation_id, ...body })
  return { ...talking, ...shop, env: talking.env, turn, conversation_id, give }
}

const approve = (call_id = 'call_cancel') => ({ approvals: [{ call_id, decision: 'approve' }] })
const mine = { tool_results: [{ call_id: 'call_mine', output: 'mine' }] }

suite('a call that needs an approval', { concurrency: 2 }, () => {
  test('waits for it, runs once with it, and the turn goes on', async (t) => {
    const { turn, hits, give, sent } = await waiting(t)
    assert.deepEqual([turn.status, turn.stop_reason], ['requires_action', 'approval'])
    assert.deepEqual(turn.pending, [
      { call_id: 'call_cancel', name: 'cancel', input: { id: '7' }, kind: 'approval' },
    ])
    assert.deepEqual(hits, [])
    const next = (await give(approve())).json()
    assert.deepEqual([next.id, next.status, next.output], [turn.id, 'completed', 'Done.'])
    assert.deepEqual(hits, ['POST /cancel/7'])
    assert.equal(sent()[1]?.results[0]?.text, 'answer to /cancel/7')
    assertProblem(await give(approve()), 422, 'call_not_pending')
    assert.equal(hits.length, 1)
  })

  test('that is denied is an error result with the reason, and stands in the receipt', async (t) => {
    const { hits, give, sent } = await waiting(t)
    const decision = { call_id: 'call_cancel', decision: 'deny', reason: 'Too late.' }
    const next = (await give({ approvals: [decision] })).json()
    assert.equal(next.status, 'completed')
    const denied = [{ tool: 'cancel', skill: null, by: 'caller', step: 1 }]
    assert.deepEqual(next.receipt.denied, denied)
    const [result] = sent()[1]?.results ?? []
    assert.deepEqual([result?.isError, hits], [true, []])
    assert.match(result?.text ?? '', /not approved, and did not run\. Too late\./)
  })

  const both = atOnce(cancel, load('greet'), call('mine', {}, 'call_mine'))
  for (const [title, answers] of [
    ['the approval first', [approve(), mine]],
    ['the result first', [mine, approve()]],
    ['both at once', [{ ...approve(), ...mine }]],
  ] as const) {
    test(`beside a call of the caller is answered in any order: ${title}`, async (t) => {
      const { turn, hits, give, sent } = await waiting(t, both)
      assert.deepEqual([turn.stop_reason, turn.pending.length], ['approval', 2])
      for (const [index, answer] of answers.entries()) {
        const next = (await give(answer)).json()
        const isLast = index === answers.length - 1
        assert.equal(next.status, isLast ? 'completed' : 'requires_action')
        if (isLast) continue
        const left = 'approvals' in answer ? ['tool_calls', 'client'] : ['approval', 'approval']
        assert.deepEqual([next.stop_reason, next.pending[0].kind], left)
      }
      assert.deepEqual(hits, ['POST /cancel/7'])
      const texts = sent()[1]?.results.map(({ text }) => text)
      assert.deepEqual([texts?.[0], texts?.[2]], ['answer to /cancel/7', 'mine'])
    })
  }

  test('takes no result, and a call of the caller no approval', async (t) => {
    const { give, hits } = await waiting(t, both)
    for (const [answer, where] of [
      [{ tool_results: [{ call_id: 'call_cancel', output: 'x' }] }, /answer it in "approvals"/],
      [approve('call_mine'), /answer it in "tool_results"/],
      [approve('call_x'), /No call "call_x"/],
    ] as const) {
      const response = await give(answer)
      assertProblem(response, 422, 'call_not_pending')
      assert.match(response.json().detail, where)
    }
    assert.deepEqual(hits, [])
  })

  test('that is approved twice at the same moment runs once', async (t) => {
    const { give, hits } = await waiting(t)
    const answers = await Promise.all(Array.from({ length: 4 }, () => give(approve())))
    assert.deepEqual(hits, ['POST /cancel/7'])
    const ran = answers.filter(({ statusCode }) => statusCode === 200)
    assert.equal(ran.length, 1)
  })

  test('whose tool is gone by then is an error result', async (t) => {
    const { app, give, hits, sent } = await waiting(t)
    assert.equal((await send(app, 'DELETE', '/tools/cancel')).statusCode, 204)
    assert.equal((await give(approve())).json().status, 'completed')
    assert.match(sent()[1]?.results[0]?.text ?? '', /no tool named "cancel"/)
    assert.deepEqual(hits, [])
  })

  test('is left behind by a new message, with an error result', async (t) => {
    const { app, conversation_id, turn, ask, hits, sent } = await waiting(t)
    const next = await ask({ conversation_id, message: 'Never mind.' })
    assert.deepEqual([next.status, hits], ['completed', []])
    assert.match(sent()[1]?.results[0]?.text ?? '', /went on with a new message/)
    const left = await get(app, `/conversations/${conversation_id}/turns/${turn.id}`)
    assert.equal(left.json().status, 'interrupted')
  })

  test('is answered after a restart, and on another instance', async (t) => {
    const folder = await temporaryFolder(t)
    const file = { DATABASE_URL: `sqlite:${folder}/skills.db` }
    const { app, env, give, hits, turn } = await waiting(t, both, [done], file)
    const other = await buildTestApp(t, { env })
    const half = (await give(approve(), other)).json()
    assert.deepEqual([half.status, hits.length], ['requires_action', 1])
    await app.close()
    const later = await buildTestApp(t, { env })
    const whole = (await give(mine, later)).json()
    assert.deepEqual([whole.id, whole.status, hits.length], [turn.id, 'completed', 1])
  })
})

suite('who asks for approvals', { concurrency: 2 }, () => {
  test('the agent does, by globs', async (t) => {
    const shop = await toolShop(t)
    const { app, ask } = await talk(t, [call('look', { id: '1' }), done], { env: shop.env })
    await shop.add(app, 'look', { method: 'GET' })
    await putAgent(app, 'careful', { approval: ['lo*'] })
    const turn = await ask({ agent: 'careful', message: 'Look.' })
    assert.deepEqual([turn.stop_reason, shop.hits], ['approval', []])
  })

  for (const [mode, listed, reason] of [
    ['preapprove', 'cancel', 'answered'],
    ['preapprove', 'look', 'approval'],
    ['restrict', 'cancel', 'approval'],
    ['off', 'cancel', 'approval'],
  ] as const) {
    test(`${mode} with ${listed} on the list of a loaded skill: ${reason}`, async (t) => {
      const shop = await toolShop(t)
      const greet = skillMd('greet', 'Hi.', `allowed-tools: ${listed}\n`)
      const script = [load('greet'), cancel, done]
      const { app, ask } = await talk(t, script, { env: shop.env, skills: [greet] })
      await shop.add(app, 'cancel', { approval: true })
      const turn = await ask({ message: 'Cancel it.', allowed_tools_mode: mode })
      assert.equal(turn.stop_reason, reason)
      assert.equal(shop.hits.length, reason === 'answered' ? 1 : 0)
    })
  }
})
