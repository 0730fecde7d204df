import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { occurrences } from '../agent/talk.ts'
import { get, put } from '../build-app.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { ALL, CLOCK_TOOL, httpShop } from './http-shop.ts'
import { BODY_LINE, dayAfter, HOSPITAL } from './shop-fixtures.ts'
import { toolResults } from './ticket-shop.ts'

const getOrder = call('get_order', { order_id: 'KL-901' })
const getPolicy = call('get_policy', { product_id: 'SKU-1001', topic: 'reschedule' })
const getTime = call(CLOCK_TOOL, { timezone: 'Asia/Tokyo' })
const exception = say('很抱歉听说您住院。超期 1 天，这次破例一次，仅限这一次。想改到哪一天？')
const DISPUTE = [
  atOnce(getOrder, load('reschedule-dispute')),
  atOnce(getPolicy, getTime),
  exception,
]
const COMPLAINT = '你们凭什么不给改期？太过分了，我要向平台投诉，钱必须全部退给我！'
const GROUP = '我们公司想组织团建，要订 15 张东京主题乐园的票，请问怎么订？'
const SKILL_TOOLS = ['load_skill', 'read_skill_file']
const POLICY = '出行前 3 天可免费改期一次，3 天内不可改期。'

suite('the shop of ep09 over HTTP tools and a clock over MCP', { concurrency: 2 }, () => {
  test('1: one skill, loaded beside a call, narrows the tools and refuses the clock', async (t) => {
    const { app, say: ask, sent, requests, shop } = await httpShop(t, DISPUTE)
    const turn = await ask(HOSPITAL)
    const [first, second, third] = sent()
    assert.ok(first && second && third)

    assert.deepEqual([turn.status, turn.steps], ['completed', 3])
    assert.match(turn.output, /仅限这一次/)
    const [{ digest, tokens, ...loaded }, ...others] = turn.receipt.loaded
    assert.deepEqual(loaded, { name: 'reschedule-dispute', version: 1, step: 1, repeat: false })
    assert.deepEqual(others, [])
    assert.equal(turn.receipt.tokens.skills, tokens)

    const [asked] = turn.messages
    const names = asked.content.map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['get_order', 'load_skill'])
    assert.equal(JSON.stringify(turn.messages).split(BODY_LINE).length, 2)
    for (const one of sent()) assert.ok(!one.system.includes(BODY_LINE))
    assert.equal(occurrences(third, BODY_LINE), 1)

    assert.deepEqual(first.tools, ALL)
    assert.deepEqual(second.tools, ['get_order', 'get_policy', ...SKILL_TOOLS])
    assert.deepEqual(third.tools, second.tools)

    const [order, , policy, clock] = toolResults(turn.messages)
    assert.deepEqual(JSON.parse(order?.output ?? ''), {
      order_id: 'KL-901',
      customer: '陈先生',
      product_id: 'SKU-1001',
      product_name: '东京主题乐园一日票',
      travel_date: dayAfter(2),
      quantity: 1,
    })
    assert.equal(policy?.output, POLICY)
    assert.deepEqual([clock?.name, clock?.is_error], [CLOCK_TOOL, true])
    assert.match(clock?.output ?? '', new RegExp(`${CLOCK_TOOL}.*reschedule-dispute`))
    assert.deepEqual(turn.receipt.denied, [
      { tool: CLOCK_TOOL, skill: 'reschedule-dispute', by: 'skill', step: 2 },
    ])
    assert.deepEqual(requests, ['GET /orders/KL-901', 'GET /policies/SKU-1001'])
    assert.deepEqual(shop.cancelled, [])
    const { loaded_skills } = (await get(app, `/conversations/${turn.conversation_id}`)).json()
    assert.deepEqual(loaded_skills, [{ name: 'reschedule-dispute', version: 1, digest }])
  })

  for (const mode of ['off', 'preapprove']) {
    test(`1: with allowed_tools_mode ${mode} the clock is asked, and nothing is taken away`, async (t) => {
      const { say: ask, sent } = await httpShop(t, DISPUTE, { agent: { allowed_tools_mode: mode } })
      const turn = await ask(HOSPITAL)
      assert.equal(turn.status, 'completed')
      assert.deepEqual(turn.receipt.denied, [])
      assert.deepEqual(
        sent().map(({ tools }) => tools),
        [ALL, ALL, ALL],
      )
      const clock = toolResults(turn.messages).at(-1)
      assert.deepEqual([clock?.output, clock?.is_error], ['12:00 in Asia/Tokyo', false])
    })
  }

  test('1: a list that names get_current_time does not name the clock’s, and a glob does', async (t) => {
    for (const [entry, isError] of [
      ['get_current_time', true],
      ['mcp__clock__*', false],
    ] as const) {
      const { app, say: ask } = await httpShop(t, [load('timely'), getTime, say('好。')])
      const file = `---\nname: timely\ndescription: 查时间时使用。\nallowed-tools: ${entry}\n---\n查。\n`
      assert.equal((await put(app, 'timely', file)).statusCode, 201)
      const turn = await ask({ message: '几点了？' })
      assert.equal(toolResults(turn.messages).at(-1)?.is_error, isError, entry)
      assert.equal(turn.receipt.denied.length, isError ? 1 : 0)
    }
  })

  test('1: the order of another customer stays closed, and no session is shown', async (t) => {
    const session = 'SHOP_SESSION_WANG'
    const { app, say: ask, sent, requests } = await httpShop(t, DISPUTE, { session })
    const turn = await ask(HOSPITAL)
    const [order] = toolResults(turn.messages)
    assert.deepEqual([order?.output, order?.is_error], ['HTTP 404: not found', true])
    assert.equal(turn.status, 'completed')
    assert.equal(requests[0], 'GET /orders/KL-901')
    const tool = (await get(app, '/tools/get_order')).json()
    const shown = JSON.stringify([turn, sent(), tool])
    assert.ok(!shown.includes(process.env[session] ?? ''))
    assert.ok(!shown.includes('陈先生","product_id'))
  })

  test('2: a skill without allowed-tools leaves the tools as they were', async (t) => {
    const script = [load('complaint-de-escalation'), say('很抱歉，由同事接手。')]
    const { say: ask, sent, requests } = await httpShop(t, script)
    const turn = await ask({ message: COMPLAINT })
    assert.equal(turn.receipt.loaded[0].name, 'complaint-de-escalation')
    assert.deepEqual(sent()[1]?.tools, ALL)
    assert.match(turn.output, /同事/)
    assert.deepEqual(requests, [])
  })

  test('3: the note is taken once all is said, and meanwhile nothing else is on offer', async (t) => {
    const note = call('remember_note', { note: '团体申请："15 人"\n7 月 1 日' })
    const script = [load('group-booking'), say('几号？'), note, say('已登记。')]
    const { say: ask, sent, requests, shop } = await httpShop(t, script)
    const { conversation_id } = await ask({ message: GROUP })
    assert.deepEqual(requests, [])
    const noting = await ask({ conversation_id, message: '7 月 1 日，电子发票' })
    assert.equal(noting.status, 'completed')
    assert.deepEqual(requests, ['PUT /note'])
    assert.equal(shop.note, '团体申请："15 人"\n7 月 1 日')
    const narrowed = ['remember_note', ...SKILL_TOOLS]
    assert.deepEqual(
      sent().map(({ tools }) => tools),
      [ALL, narrowed, narrowed, narrowed],
    )
  })

  test('4: a repeat is one short line, and after a PUT the body comes again and says why', async (t) => {
    const reload = load('reschedule-dispute')
    const script = [reload, reload, say('好。'), reload, say('好。')]
    const { app, say: ask, sent } = await httpShop(t, script)
    const first = await ask({ message: '改期' })
    const [, repeat] = first.receipt.loaded
    assert.deepEqual([repeat.step, repeat.repeat], [2, true])
    const line = toolResults(first.messages).at(-1)?.output ?? ''
    assert.ok(countTokens(line) <= 60, line)
    assert.equal(occurrences(sent()[2] ?? assert.fail(), BODY_LINE), 1)

    const file = (await get(app, '/skills/reschedule-dispute/content')).body
    await put(app, 'reschedule-dispute', file.replace(BODY_LINE, `${BODY_LINE}（新）`))
    const next = await ask({ conversation_id: first.conversation_id, message: '再改' })
    assert.deepEqual([next.receipt.loaded[0].version, next.receipt.loaded[0].repeat], [2, false])
    const again = toolResults(next.messages)[0]?.output ?? ''
    assert.match(again, /（新）[\s\S]*version 2.*replaces version 1/)
  })

  test('5: the first calls of the three conversations cost the same within 2 %', async (t) => {
    const answers = [say('好。'), say('好。'), say('好。')]
    const { say: ask, prompts } = await httpShop(t, answers)
    for (const message of [HOSPITAL.message, COMPLAINT, GROUP]) await ask({ message })
    const costs = prompts.map(({ body: { system, tools, messages } }) =>
      countTokens(JSON.stringify([system, tools, messages])),
    )
    assert.equal(costs.length, 3)
    assert.ok(Math.max(...costs) <= Math.min(...costs) * 1.02, String(costs))
  })

  test('6: a question is answered by a tool, and no skill is loaded', async (t) => {
    const usage = call('get_policy', { product_id: 'SKU-1001', topic: 'usage' })
    const faq = call('search_faq', { query: '行李可以带多少公斤' })
    const wrong = [
      call('get_policy', { product_id: 'SKU-9', topic: 'usage' }),
      call('get_policy', { product_id: 'SKU-1001', topic: 'weather' }),
    ]
    const script = [atOnce(usage, faq, ...wrong), say('扫码入园。')]
    const { say: ask, requests } = await httpShop(t, script)
    const turn = await ask({ message: 'KL-778 怎么入园？行李呢？' })
    assert.deepEqual(turn.receipt.loaded, [])
    const [gate, luggage, product, topic] = toolResults(turn.messages)
    assert.match(gate?.output ?? '', /二维码/)
    const found = (luggage?.output ?? '').split('\n')
    assert.equal(found.length, 2)
    assert.match(found[0] ?? '', /20 公斤/)
    assert.deepEqual([product?.output, product?.is_error], ['HTTP 404: not found', true])
    assert.match(topic?.output ?? '', /topic/)
    assert.equal(topic?.is_error, true)
    assert.equal(requests.length, 3)
  })

  test('6: three orders in one question are three calls of one step', async (t) => {
    const orders = ['KL-778', 'KL-901', 'KL-315'].map((order_id) => call('get_order', { order_id }))
    const { say: ask, requests } = await httpShop(t, [atOnce(...orders), say('查到了。')])
    const turn = await ask({ message: '查三个订单' })
    assert.equal(turn.steps, 2)
    assert.equal(requests.length, 3)
    assert.deepEqual(
      toolResults(turn.messages).map(({ is_error }) => is_error),
      [true, false, true],
    )
  })

  test('7: two loaded skills allow what either of them lists', async (t) => {
    const both = atOnce(load('reschedule-dispute'), load('group-booking'))
    const { say: ask, sent } = await httpShop(t, [both, say('好。')])
    await ask({ message: '改期，另外订 15 张' })
    const union = ['get_order', 'get_policy', 'remember_note', ...SKILL_TOOLS]
    assert.deepEqual(sent()[1]?.tools, union)
  })
})
