import type { Answered, Call, Turn } from '../store/chats.ts'
import { toResult } from './answer-call.ts'
import type { Chats } from './chats.ts'
import type { Message, ToolResult } from './model.ts'

export const INTERRUPTED =
  'Interrupted: the service stopped while this ran, and it was not run again.'

/** Gives every call of an earlier turn that has no result an error result, for a call must have one. */
export async function settleCalls(chats: Chats, conversationId: string, last: Turn): Promise<void> {
  const calls = await chats.lastCalls(conversationId)
  const open = calls.filter(({ result }) => result === null)
  if (open.length === 0) return
  const results = open.map(({ callId, name, kind }) => {
    const why =
      kind === 'tool' ? INTERRUPTED : 'There is no result: the caller went on with a new message.'
    return { callId, result: toResult({ toolCallId: callId, toolName: name }, why, true) }
  })
  const status = last.status === 'requires_action' ? 'interrupted' : last.status
  await chats.saveResults(last.id, results, toolMessage(calls, results), { ...last, status })
}

/** The results of a step's calls in call order, those that were stored before among them. */
export function toolMessage(
  calls: readonly Call<ToolResult>[],
  given: readonly Answered<ToolResult>[],
): Message {
  const results = calls.map(
    ({ callId, result }) => result ?? given.find((answer) => answer.callId === callId)?.result,
  )
  return { role: 'tool', content: results.filter((result) => result !== undefined) }
}
