import { toResult } from '../../agent/answer-call.ts'
import type { AssistantMessage, Message, ToolCall, ToolResult } from '../../agent/model.ts'
import { toToolCall } from '../../agent/models/tool-call.ts'
import type { ChatMessage } from './body.ts'
import { refuse } from './refusal.ts'

/** Results that the messages end with. */
export type Result = { callId: string; output: string; isError: false }

export interface Conversed {
  /** What system and developer messages say; null when nothing. */
  system: string | null
  /** What users, models and tools said, as ours. */
  history: Message[]
  /** Empty when the messages do not end with results of tools. */
  results: Result[]
  /** Those of the history that stand behind the last message of the model. */
  latest: Message[]
}

interface OpenCalls {
  /** By the ids that the caller knows them by. */
  calls: Map<string, ToolCall>
  results: Map<string, ToolResult>
}

/**
 * The messages of a caller, as the model takes them. Every call of a tool must have its one result,
 * in the messages right behind it. Throws `body_invalid` and `unsupported_content`.
 */
export function readMessages(messages: readonly ChatMessage[]): Conversed {
  const system: string[] = []
  const history: Message[] = []
  const taken = new Set<string>()
  let open: OpenCalls | undefined
  let results: Result[] = []

  messages.forEach((message, index) => {
    const { role } = message
    const text = textOf(message, index)
    const pointer = `/messages/${index}`
    if (role === 'system' || role === 'developer') {
      if (isSaid(text)) system.push(text)
      return
    }
    if (role === 'tool') {
      const callId = message.tool_call_id ?? ''
      take(open, callId, text, pointer)
      results.push({ callId, output: text, isError: false })
      return
    }
    close()
    results = []
    if (role === 'user') {
      if (!isSaid(text)) throw refuse('body_invalid', `${pointer}/content`, 'The message is empty.')
      history.push({ role, content: [{ type: 'text', text }] })
      return
    }
    const calls = readCalls(message, taken, pointer)
    const said: AssistantMessage['content'] = isSaid(text) ? [{ type: 'text', text }] : []
    const content = [...said, ...calls.values()]
    if (content.length > 0) history.push({ role, content })
    if (calls.size > 0) open = { calls, results: new Map() }
  })
  close()
  const behind = history.findLastIndex(({ role }) => role === 'assistant') + 1
  return {
    system: system.length > 0 ? system.join('\n\n') : null,
    history,
    results,
    latest: history.slice(behind),
  }

  function close(): void {
    if (!open) return
    const { calls, results: given } = open
    for (const id of calls.keys()) {
      if (!given.has(id)) throw unanswered(id)
    }
    const inOrder = [...calls.keys()].flatMap((id) => given.get(id) ?? [])
    history.push({ role: 'tool', content: inOrder })
    open = undefined
  }
}

/** All calls of a step are answered in one request. */
export const unanswered = (callId: string) =>
  refuse('body_invalid', '/messages', `The call "${callId.slice(0, 64)}" has no result.`)

/** Gives a call its result. */
function take(open: OpenCalls | undefined, callId: string, text: string, pointer: string): void {
  const call = open?.calls.get(callId)
  if (!open || !call) {
    const what = `No call "${callId.slice(0, 64)}" stands before this result.`
    throw refuse('body_invalid', `${pointer}/tool_call_id`, what)
  }
  if (open.results.has(callId)) {
    const what = `The call "${callId.slice(0, 64)}" has two results.`
    throw refuse('body_invalid', `${pointer}/tool_call_id`, what)
  }
  open.results.set(callId, toResult(call, text))
}

/** Ids that come again, or that a provider could not take, are made anew: results are told by them. */
function readCalls(
  { tool_calls }: ChatMessage,
  taken: Set<string>,
  pointer: string,
): Map<string, ToolCall> {
  const calls = new Map<string, ToolCall>()
  for (const [index, { id, function: called }] of (tool_calls ?? []).entries()) {
    const place = `${pointer}/tool_calls/${index}`
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(called.name)) {
      throw refuse('body_invalid', `${place}/function/name`, 'No tool could have this name.')
    }
    if (calls.has(id)) throw refuse('body_invalid', `${place}/id`, 'Two calls have one id.')
    const safe = id.slice(0, 200).replaceAll(/[^a-zA-Z0-9_-]/g, '_')
    let toolCallId = safe
    for (let suffix = 2; taken.has(toolCallId); suffix++) toolCallId = `${safe}_${suffix}`
    taken.add(toolCallId)
    const { name: toolName, arguments: input } = called
    calls.set(id, toToolCall({ type: 'tool-call', toolCallId, toolName, input }, toolCallId))
  }
  return calls
}

function textOf({ content }: ChatMessage, index: number): string {
  if (content == null) return ''
  if (typeof content === 'string') return content
  const texts = content.map(({ type, text }, at) => {
    if (type === 'text' && text !== undefined) return text
    const what = `Only parts of the type "text" are taken, not "${type.slice(0, 64)}".`
    throw refuse('unsupported_content', `/messages/${index}/content/${at}`, what)
  })
  return texts.join('')
}

/** Providers refuse blank text. */
const isSaid = (text: string): boolean => text.trim() !== ''
