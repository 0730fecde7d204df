import type { TestContext } from 'node:test'
import { type Answer, fakeProvider, stream } from './agent/fake-provider.ts'
import { messageStart, messageStop, textBlock } from './agent/wire.ts'

/** What the model says in one call: text, calls, or both. */
export interface Said {
  text?: string
  calls?: { name: string; input?: unknown; raw?: string; id?: string }[]
  stop?: string
}

export const say = (text: string): Said => ({ text })

export const call = (name: string, input: unknown = {}, id?: string): Said => ({
  calls: [{ name, input, ...(id && { id }) }],
})

export const load = (name: string): Said => call('load_skill', { name })

/** One answer with the calls of several. */
export const atOnce = (...said: Said[]): Said => ({
  calls: said.flatMap(({ calls = [] }) => calls),
})

let serial = 0

/** As Anthropic streams it. */
export function toAnswer({ text, calls = [], stop }: Said): Answer {
  const blocks = text === undefined ? [] : [textBlock(0, ...text.split(/(?<= )/))]
  const offset = blocks.length
  const toolBlocks = calls.map(({ name, input = {}, raw, id }, index) => [
    {
      type: 'content_block_start',
      index: index + offset,
      content_block: { type: 'tool_use', id: id ?? `toolu_${++serial}`, name, input: {} },
    },
    {
      type: 'content_block_delta',
      index: index + offset,
      delta: { type: 'input_json_delta', partial_json: raw ?? JSON.stringify(input) },
    },
    { type: 'content_block_stop', index: index + offset },
  ])
  const reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  return stream([messageStart, ...[...blocks, ...toolBlocks].flat(), ...messageStop(reason)])
}

interface SentBlock {
  type: string
  text?: string
  id?: string
  name?: string
  tool_use_id?: string
  is_error?: boolean
  content?: { type: string; text: string }[] | string
}

export interface Sent {
  system: string
  tools: string[]
  messages: { role: string; content: SentBlock[] }[]
  /** Every tool result in the order sent, as text. */
  results: { id: string; text: string; isError: boolean }[]
}

/** A provider that answers from a script, over the real wire, and remembers what it was sent. */
export async function scriptedModel(t: TestContext, ...script: (Said | Answer)[]) {
  const answers = script.map((one) => (typeof one === 'function' ? one : toAnswer(one)))
  const { requests, url } = await fakeProvider(t, ...answers)
  return {
    env: {
      MODEL: 'anthropic/test',
      ANTHROPIC_API_KEY: 'key-4711',
      ANTHROPIC_BASE_URL: url,
    },
    requests,
    sent: (): Sent[] => requests.map(({ body }) => read(body)),
  }
}

function read(body: Record<string, unknown>): Sent {
  const {
    system = [],
    tools = [],
    messages,
  } = body as {
    system?: { text: string }[]
    tools?: { name: string }[]
    messages: Sent['messages']
  }
  const blocks = messages.flatMap(({ content }) => content)
  return {
    system: system.map(({ text }) => text).join('\n'),
    tools: tools.map(({ name }) => name),
    messages,
    results: blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id = '', content = [], is_error: isError = false }) => ({
        id,
        text: typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
        isError,
      })),
  }
}
