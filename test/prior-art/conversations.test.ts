import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { occurrences } from '../agent/talk.ts'
import { get } from '../build-app.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { BODY_LINE, HOSPITAL } from './shop-fixtures.ts'
import { converse, shop, toolResults, tools } from './ticket-shop.ts'

const ALL = [...tools.map(({ name }) => name), 'load_skill', 'read_skill_file']
const findOut = atOnce(call('get_order', { order_id: 'KL-901' }), load('reschedule-dispute'))
const lookFurther = atOnce(
  call('get_policy', { product_id: 'SKU-1001', topic: 'reschedule' }),
  call('get_current_time', { timezone: 'Asia/Tokyo' }),
)
const exception = say('很抱歉听说您住院。超期 1 天，这次破例一次，仅限这一次。想改到哪一天？')

suite('the three conversations of ep09', { concurrency: 2 }, () => {
  test('1: one skill, loaded beside a call, narrows the tools and refuses another call', async (t) => {
    const { app, sent } = await shop(t, findOut, lookFurther, exception)
    const turn = await converse(app, HOSPITAL)
    const [first, second, third] = sent()
    assert.ok(first && second && third)

    assert.equal(turn.status, 'completed')
    assert.equal(turn.steps, 3)
    assert.deepEqual(turn.ran, ['get_order', 'get_policy'])
    assert.match(turn.output, /仅限这一次/)
    const [{ digest, tokens, ...loaded }, ...others] = turn.receipt.loaded
    assert.deepEqual(loaded, { name: 'reschedule-dispute', version: 1, step: 1, repeat: false })
    assert.deepEqual(others, [])
    assert.match(digest, /^sha256:/)
    assert.equal(turn.receipt.tokens.skills, tokens)

    const [asked] = turn.messages
    assert.deepEqual(
      asked.content.map(({ name }: { name: string }) => name),
      ['get_order', 'load_skill'],
    )
    assert.equal(JSON.stringify(turn.messages).split(BODY_LINE).length, 2)
    assert.deepEqual(first.tools, ALL)
    assert.deepEqual(second.tools, ['get_order', 'get_policy', 'load_skill', 'read_skill_file'])
    assert.deepEqual(third.tools, second.tools)
    for (const one of sent()) assert.ok(!one.system.includes(BODY_LINE))
    assert.equal(occurrences(third, BODY_LINE), 1)

    const refused = toolResults(turn.messages).at(-1)
    assert.equal(refused?.name, 'get_current_time')
    assert.equal(refused?.is_error, true)
    assert.match(refused?.output ?? '', /get_current_time.*reschedule-dispute/)
    assert.deepEqual(turn.receipt.denied, [
      { tool: 'get_current_time', skill: 'reschedule-dispute', by: 'skill', step: 2 },
    ])

    const { loaded_skills } = (await get(app, `/conversations/${turn.conversation_id}`)).json()
    assert.deepEqual(loaded_skills, [{ name: 'reschedule-dispute', version: 1, digest }])
  })

  for (const mode of ['off', 'preapprove']) {
    test(`1: with allowed_tools_mode ${mode} nothing is taken away`, async (t) => {
      const { app, sent } = await shop(t, findOut, lookFurther, exception)
      const turn = await converse(app, { ...HOSPITAL, allowed_tools_mode: mode })
      assert.equal(turn.status, 'completed')
      assert.deepEqual(turn.ran, ['get_order', 'get_policy', 'get_current_time'])
      assert.deepEqual(turn.receipt.denied, [])
      assert.deepEqual(sent()[1]?.tools, ALL)
    })
  }

  test('1: the order of another customer stays closed', async (t) => {
    const { app } = await shop(t, findOut, say('请核对订单号。'))
    const turn = await converse(app, HOSPITAL, '王小姐')
    assert.equal(toolResults(turn.messages)[0]?.output, 'not found')
  })

  test('2: a skill without allowed-tools leaves the tools as they were', async (t) => {
    const { app, sent } = await shop(t, load('complaint-de-escalation'), say('由同事接手。'))
    const turn = await converse(app, { message: '不给改期？我要向平台投诉，全额退款！' })
    assert.equal(turn.receipt.loaded[0].name, 'complaint-de-escalation')
    assert.deepEqual(sent()[1]?.tools, sent()[0]?.tools)
    assert.match(turn.output, /同事/)
    assert.deepEqual(turn.ran, [])
  })

  test('3: the note is taken once all is said, and meanwhile nothing else is on offer', async (t) => {
    const note = call('remember_note', { note: '团体申请：15 人' })
    const { app, sent } = await shop(t, load('group-booking'), say('几号？'), note, say('已登记。'))
    const asking = await converse(app, { message: '公司要订 15 张乐园票' })
    assert.deepEqual(asking.ran, [])
    const { conversation_id } = asking
    const noting = await converse(app, { conversation_id, message: '7 月 1 日，电子发票' })
    assert.deepEqual(noting.ran, ['remember_note'])
    assert.deepEqual(noting.receipt.loaded, [])
    const narrowed = ['remember_note', 'load_skill', 'read_skill_file']
    assert.deepEqual(
      sent().map((one) => one.tools),
      [ALL, narrowed, narrowed, narrowed],
    )
  })

  test('two loaded skills allow what either of them lists', async (t) => {
    const both = atOnce(load('reschedule-dispute'), load('group-booking'))
    const { app, sent } = await shop(t, both, say('好。'))
    await converse(app, { message: '改期，另外订 15 张' })
    const union = ['get_order', 'get_policy', 'remember_note', 'load_skill', 'read_skill_file']
    assert.deepEqual(sent()[1]?.tools, union)
  })

  test('three orders in one question are three calls of one step', async (t) => {
    const orders = ['KL-778', 'KL-901', 'KL-315'].map((order_id) => call('get_order', { order_id }))
    const { app } = await shop(t, atOnce(...orders), say('查到了。'))
    const turn = await converse(app, { message: '查三个订单' })
    assert.equal(turn.steps, 2)
    assert.deepEqual(turn.ran, ['get_order', 'get_order', 'get_order'])
    const outputs = toolResults(turn.messages).map(({ output = '' }) => output.includes('KL-901'))
    assert.deepEqual(outputs, [false, true, false])
  })
})
