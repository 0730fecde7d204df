import type { StoredMessage, Turn } from '../store/chats.ts'
import type { Chats } from './chats.ts'
import type { Message } from './model.ts'
import { isByUser } from './said-by.ts'

/** A turn with what it added to the conversation, and the calls that wait for the caller. */
export interface TurnView {
  turn: Turn
  messages: Message[]
  pending: PendingCall[]
}

/** Whether the caller has to run a call, or to approve it. */
export type WaitingKind = 'client' | 'approval'

/** How a turn stands while calls wait: an approval is asked for before anything else. */
export const waitingEnd = (kinds: Iterable<WaitingKind>) =>
  ({
    status: 'requires_action',
    stopReason: [...kinds].includes('approval') ? 'approval' : 'tool_calls',
  }) as const

export interface PendingCall {
  callId: string
  name: string
  input: unknown
  kind: WaitingKind
}

/** `waiting` are the calls that the caller has to answer, by their ids. */
export function toView(
  turn: Turn,
  messages: Message[],
  waiting: ReadonlyMap<string, WaitingKind>,
): TurnView {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const pending: PendingCall[] = []
  for (const part of last?.role === 'assistant' ? last.content : []) {
    if (part.type !== 'tool-call') continue
    const { toolCallId: callId, toolName: name, input } = part
    const kind = waiting.get(callId)
    if (kind) pending.push({ callId, name, input, kind })
  }
  return { turn, messages, pending }
}

/** What a turn added: all that stands behind what its caller said. */
export function addedBy(turnId: string, stored: readonly StoredMessage<Message>[]): Message[] {
  const own = stored.flatMap((one) => (one.turnId === turnId ? [one.message] : []))
  return own.slice(own.findLastIndex(isByUser) + 1)
}

/** Turns of one conversation as they are stored. */
export async function viewStored(
  chats: Pick<Chats, 'messages' | 'lastCalls'>,
  id: string,
  turns: Turn[],
): Promise<TurnView[]> {
  const messages = await chats.messages(id)
  const calls = await chats.lastCalls(id)
  return turns.map((turn) => {
    const waiting = new Map<string, WaitingKind>()
    for (const { callId, turnId, kind, result } of calls) {
      const waits = turn.status === 'requires_action' && turnId === turn.id && result === null
      if (waits && kind !== 'tool') waiting.set(callId, kind)
    }
    return toView(turn, addedBy(turn.id, messages), waiting)
  })
}
