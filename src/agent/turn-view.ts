import type { ChatStore, StoredMessage, Turn } from '../store/chats.ts'
import type { Message, ToolResult } from './model.ts'

/** A turn with what it added to the conversation, and the calls that wait for the caller. */
export interface TurnView {
  turn: Turn
  messages: Message[]
  pending: PendingCall[]
}

export interface PendingCall {
  callId: string
  name: string
  input: unknown
  kind: 'client' | 'approval'
}

/** `waiting` are the ids of the calls that the caller has to answer. */
export function toView(turn: Turn, messages: Message[], waiting: ReadonlySet<string>): TurnView {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const pending: PendingCall[] = []
  for (const part of last?.role === 'assistant' ? last.content : []) {
    if (part.type !== 'tool-call' || !waiting.has(part.toolCallId)) continue
    const { toolCallId: callId, toolName: name, input } = part
    pending.push({ callId, name, input, kind: 'client' })
  }
  return { turn, messages, pending }
}

/** What a turn added: all that stands behind what its caller said. */
export function addedBy(turnId: string, stored: readonly StoredMessage<Message>[]): Message[] {
  const own = stored.flatMap((one) => (one.turnId === turnId ? [one.message] : []))
  return own.slice(own.findLastIndex(({ role }) => role === 'user') + 1)
}

type Stored = Pick<ChatStore<Message, ToolResult, never>, 'messages' | 'lastCalls'>

/** Turns of one conversation as they are stored. */
export async function viewStored(chats: Stored, id: string, turns: Turn[]): Promise<TurnView[]> {
  const messages = await chats.messages(id)
  const calls = await chats.lastCalls(id)
  return turns.map((turn) => {
    const open = calls.filter(({ turnId, result }) => turnId === turn.id && result === null)
    const waiting = turn.status === 'requires_action' ? open.map(({ callId }) => callId) : []
    return toView(turn, addedBy(turn.id, messages), new Set(waiting))
  })
}
