/** The travel agency of ep09: its instructions, its tools, its orders, policies and questions. */

export const today = new Date('2026-06-10T00:00:00Z')

export function dayAfter(days: number): string {
  return new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10)
}

export const instructions = [
  '你是一家旅行社的客服。',
  `今天是 ${dayAfter(0)}。`,
  '只依据工具查到的内容回答，不编造。用中文回答，不超过 150 字。',
].join('\n')

export const BODY_LINE = '# 逾期改期的破例处理'
export const HOSPITAL = {
  message: '我是陈先生，KL-901 已过免费改期期限，但我突然住院了，有证明，能改期吗？',
}

const text = { type: 'string' }
const TOPICS = ['reschedule', 'refund', 'usage']

/** The properties of each tool's input; all of them are required. */
export const SHOP_TOOLS = {
  get_order: { order_id: text },
  get_policy: { product_id: text, topic: { enum: TOPICS } },
  search_faq: { query: text },
  remember_note: { note: text },
  cancel_order: { order_id: text },
}

const PARK = { product_id: 'SKU-1001', product_name: '东京主题乐园一日票' }
const BUS = { product_id: 'SKU-2042', product_name: '首尔机场巴士往返票' }
const ORDERS = [
  { order_id: 'KL-778', customer: '王小姐', ...PARK, quantity: 2, travel_date: dayAfter(4) },
  { order_id: 'KL-901', customer: '陈先生', ...PARK, quantity: 1, travel_date: dayAfter(2) },
  { order_id: 'KL-315', customer: '李先生', ...BUS, quantity: 3, travel_date: dayAfter(1) },
]
const POLICIES = new Map([
  ['SKU-1001 reschedule', '出行前 3 天可免费改期一次，3 天内不可改期。'],
  ['SKU-1001 refund', '出行前 7 天可全额退款，之后不退。'],
  ['SKU-1001 usage', '凭二维码电子票在入口扫码入场。'],
  ['SKU-2042 reschedule', '发车前随时可免费改期。'],
  ['SKU-2042 refund', '发车前 24 小时可全额退款，之后收取 20% 手续费。'],
  ['SKU-2042 usage', '上车时向司机出示兑换券。'],
])
const QUESTIONS = [
  '行李：每人可免费携带 20 公斤行李。',
  '付款：支持银行卡和手机支付。',
  '发票：出行后可申请电子发票。',
  '儿童：身高 1.2 米以下免费，以上按七折购票。',
  '天气：遇极端天气停运或闭园，全额退款。',
  '团体：10 人及以上享 9 折，须提前 3 个工作日提交名单。',
  '电子票：付款后发送到预留邮箱。',
  '手机号：更换手机号须核实身份后由人工修改。',
]

type Input = Record<string, string>

/** What the shop's own code keeps and answers; undefined where there is no such thing. */
export function openShop() {
  const shop = { note: '', cancelled: [] as string[] }
  const orderOf = ({ order_id }: Input, customer: string) =>
    ORDERS.find((order) => order.order_id === order_id && order.customer === customer)
  const answers = new Map<string, (input: Input, customer: string) => string | undefined>([
    [
      'get_order',
      (input, customer) => {
        const order = orderOf(input, customer)
        return order && JSON.stringify(order)
      },
    ],
    ['get_policy', ({ product_id, topic }) => POLICIES.get(`${product_id} ${topic}`)],
    ['search_faq', ({ query = '' }) => bestTwo(query).join('\n')],
    [
      'remember_note',
      ({ note = '' }) => {
        shop.note = note
        return 'noted'
      },
    ],
    [
      'cancel_order',
      (input, customer) => {
        const order = orderOf(input, customer)
        if (order) shop.cancelled.push(order.order_id)
        return order && 'cancelled'
      },
    ],
  ])
  const answer = (name: string, input: Input, customer: string) =>
    answers.get(name)?.(input, customer)
  return { shop, answer }
}

/** Those that share the most characters with the question. */
function bestTwo(query: string): string[] {
  const asked = new Set(query.match(/[\p{L}\p{N}]/gu))
  const score = (entry: string) => [...new Set(entry)].filter((one) => asked.has(one)).length
  return QUESTIONS.toSorted((a, b) => score(b) - score(a)).slice(0, 2)
}
