import type { Loaded } from '../domain/receipt.ts'
import { AppError } from '../errors.ts'
import type { Conversation, Turn } from '../store/chats.ts'
import type { Chats } from './chats.ts'
import type { Message, ToolCall } from './model.ts'
import type { Settings } from './settings.ts'
import type { Setup } from './setup.ts'
import { addedBy, type WaitingKind } from './turn-view.ts'

/** A turn that runs now, and nowhere else. */
export interface OpenTurn {
  conversation: Conversation<Settings>
  setup: Setup
  dayBudget: number | null
  turn: Turn
  /** The whole conversation. */
  messages: Message[]
  /** Those of the messages that this turn has added already. */
  added: Message[]
  /** Skills that stand before the turn's message. */
  preloaded: Loaded[]
  /** Calls of the last step to answer before the model is asked. */
  unanswered: UnansweredCall[]
  /** Those that wait for the caller, by their ids. */
  waiting: Map<string, WaitingKind>
}

export interface UnansweredCall {
  call: ToolCall
  /** The caller approved it, or it ran when the turn was interrupted. */
  because: 'approved' | 'interrupted'
}

export async function stateOf(chats: Chats, conversation: Conversation<Settings>, turn: Turn) {
  const stored = await chats.messages(conversation.id)
  return {
    conversation,
    turn,
    messages: stored.map(({ message }) => message),
    added: addedBy(turn.id, stored),
  }
}

export const inProgress = (id: string) =>
  new AppError(
    'turn_in_progress',
    `A turn is running in the conversation "${id}": wait for it, or cancel it.`,
  )
