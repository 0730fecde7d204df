import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { talk, tool } from '../agent/talk.ts'
import type { TestApp } from '../build-app.ts'
import { type Said, say } from '../scripted-model.ts'
import { dayAfter, instructions, openShop, SHOP_TOOLS } from './shop-fixtures.ts'

export const SKILLS = join(import.meta.dirname, '../../skills')

/** The shop's tools as a caller's own. */
export const tools = [
  ...Object.entries(SHOP_TOOLS).map(([name, properties]) =>
    tool(name, properties, { required: Object.keys(properties) }),
  ),
  tool('get_current_time', { timezone: { type: 'string' } }, { required: ['timezone'] }),
]

interface Pending {
  call_id: string
  name: string
  input: Record<string, string>
}

export interface Message {
  role: string
  content: { type: string; name?: string; output?: string; is_error?: boolean; text?: string }[]
}

/** Says something as a customer, and answers the calls that are the shop's, until the turn ends. */
export async function converse(app: TestApp, body: object, customer = '陈先生') {
  const { answer } = openShop()
  const run = ({ name, input }: Pending): string => {
    if (name === 'get_current_time') return `${dayAfter(0)}T09:00:00+09:00`
    return answer(name, input, customer) ?? 'not found'
  }
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
      tool_results: pending.map((call) => ({ call_id: call.call_id, output: run(call) })),
    }
  }
}

export const shop = async (t: TestContext, ...script: Said[]) =>
  await talk(t, [...script, say('再见。')], { env: { SKILLS_DIR: SKILLS } })

export const toolResults = (messages: Message[]) =>
  messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
