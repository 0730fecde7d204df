import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { CLOCK_TOOL, httpShop } from './http-shop.ts'
import { HOSPITAL } from './shop-fixtures.ts'

const getOrder = call('get_order', { order_id: 'KL-901' })
const getTime = call(CLOCK_TOOL, { timezone: 'Asia/Tokyo' })

suite('the approvals of the shop of ep09', { concurrency: 2 }, () => {
  test('preapprove spares what the loaded skill lists the approval, and nothing else does', async (t) => {
    const approval = ['get_order', CLOCK_TOOL]
    for (const [mode, waiting] of [
      ['preapprove', [CLOCK_TOOL]],
      ['restrict', ['get_order']],
      ['off', ['get_order', CLOCK_TOOL]],
    ] as const) {
      const script = [load('reschedule-dispute'), atOnce(getOrder, getTime), say('好。')]
      const agent = { allowed_tools_mode: mode, approval }
      const { say: ask, requests } = await httpShop(t, script, { agent })
      const turn = await ask(HOSPITAL)
      assert.deepEqual([turn.status, turn.stop_reason], ['requires_action', 'approval'], mode)
      assert.deepEqual(
        turn.pending.map(({ name, kind }: { name: string; kind: string }) => [name, kind]),
        waiting.map((name) => [name, 'approval']),
      )
      assert.equal(requests.length, mode === 'preapprove' ? 1 : 0)
    }
  })

  test('an order is cancelled once it is approved, once, and never before', async (t) => {
    const cancel = call('cancel_order', { order_id: 'KL-901' })
    const { app, say: ask, shop } = await httpShop(t, [cancel, say('已取消。')])
    const turn = await ask({ message: '取消 KL-901' })
    assert.deepEqual([turn.status, turn.stop_reason], ['requires_action', 'approval'])
    const [{ call_id, name, kind }] = turn.pending
    assert.deepEqual([name, kind], ['cancel_order', 'approval'])
    assert.deepEqual(shop.cancelled, [])
    const { conversation_id } = turn
    const approvals = [{ call_id, decision: 'approve' }]
    const done = await ask({ conversation_id, approvals })
    assert.equal(done.status, 'completed')
    assert.deepEqual(shop.cancelled, ['KL-901'])
    const payload = { conversation_id, approvals }
    const again = await app.inject({ method: 'POST', url: '/api/v1/chat', payload })
    assert.equal(again.json().code, 'call_not_pending')
    assert.deepEqual(shop.cancelled, ['KL-901'])
  })
})
