import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { talk, tool } from '../agent/talk.ts'
import type { TestApp } from '../build-app.ts'
import { type Said, say } from '../scripted-model.ts'

/** The travel agency of ep09: its instructions, its six tools, and the customers' orders. */
export const today = new Date('2026-06-10T00:00:00Z')

export const instructions = [
  '你是一家旅行社的客服。',
  `今天是 ${dayAfter(0)}。`,
  '只依据工具查到的内容回答，不编造。用中文回答，不超过 150 字。',
].join('\n')

const text = { type: 'string' }
export const tools = [
  tool('get_order', { order_id: text }, { required: ['order_id'] }),
  tool(
    'get_policy',
    { product_id: text, topic: { enum: ['reschedule', 'refund', 'usage'] } },
    { required: ['product_id', 'topic'] },
  ),
  tool('search_faq', { query: text }, { required: ['query'] }),
  tool('remember_note', { note: text }, { required: ['note'] }),
  tool('cancel_order', { order_id: text }, { required: ['order_id'] }),
  tool('get_current_time', { timezone: text }, { required: ['timezone'] }),
]

const PARK = { product_id: 'SKU-1001', product_name: '东京主题乐园一日票' }
const BUS = { product_id: 'SKU-2042', product_name: '首尔机场巴士往返票' }
const ORDERS = [
  { order_id: 'KL-778', customer: '王小姐', ...PARK, quantity: 2, travel_date: dayAfter(4) },
  { order_id: 'KL-901', customer: '陈先生', ...PARK, quantity: 1, travel_date: dayAfter(2) },
  { order_id: 'KL-315', customer: '李先生', ...BUS, quantity: 3, travel_date: dayAfter(1) },
]
const POLICIES: Record<string, string> = {
  'SKU-1001 reschedule': '出行前 3 天可免费改期一次，3 天内不可改期。',
  'SKU-1001 refund': '出行前 7 天可全额退款，之后不退。',
  'SKU-1001 usage': '凭二维码电子票在入口扫码入场。',
  'SKU-2042 reschedule': '发车前随时可免费改期。',
}

function dayAfter(days: number): string {
  return new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10)
}

interface Pending {
  call_id: string
  name: string
  input: Record<string, string>
}

/** What the shop's own code answers, for the customer who is logged in. */
function run({ name, input }: Pending, customer: string): string {
  if (name === 'get_order') {
    const order = ORDERS.find(({ order_id }) => order_id === input.order_id)
    return order?.customer === customer ? JSON.stringify(order) : 'not found'
  }
  if (name === 'get_policy') {
    return POLICIES[`${input.product_id} ${input.topic}`] ?? 'There is no such policy.'
  }
  if (name === 'get_current_time') return `${dayAfter(0)}T09:00:00+09:00`
  return 'ok'
}

export interface Message {
  role: string
  content: { type: string; name?: string; output?: string; is_error?: boolean; text?: string }[]
}

/** Says something as a customer, and answers the calls that are the shop's, until the turn ends. */
export async function converse(app: TestApp, body: object, customer = '陈先生') {
  const ran: string[] = []
  for (let request: object = { instructions, tools, ...body }; ; ) {
    const response = await app.inject({ method: 'POST', url: '/api/v1/chat', payload: request })
    assert.equal(response.statusCode, 200, response.body)
    const turn = response.json()
    if (turn.status !== 'requires_action') return { ...turn, ran }
    const pending: Pending[] = turn.pending
    ran.push(...pending.map(({ name }) => name))
    request = {
      conversation_id: turn.conversation_id,
      tool_results: pending.map((call) => ({ call_id: call.call_id, output: run(call, customer) })),
    }
  }
}

export const shop = async (t: TestContext, ...script: Said[]) => {
  const env = { SKILLS_DIR: join(import.meta.dirname, '../../skills') }
  return await talk(t, [...script, say('再见。')], { env })
}

export const toolResults = (messages: Message[]) =>
  messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
