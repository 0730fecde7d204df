import type { Usage } from '../store/chats.ts'
import type { Agent } from './agent.ts'
import type { Chats } from './chats.ts'

/** The limits that hold for a turn, in tokens in and out together; null is none. */
export interface Budget {
  turn: number | null
  conversation: number | null
  /** What the model calls of the key may cost in a day (UTC). */
  day: number | null
}

interface Spender {
  conversationId: string
  owner: string | null
  /** Of the turn, when it was opened. */
  before: Usage
}

/** Tells before each model call whether a limit is reached; it may be passed by one call. */
export async function openBudget(
  chats: Pick<Chats, 'usage' | 'spent'>,
  budget: Budget,
  { conversationId, owner, before }: Spender,
): Promise<{ isSpent(turn: Usage): Promise<boolean> }> {
  const conversation =
    budget.conversation === null ? 0 : tokensOf(await chats.usage(conversationId))
  return {
    async isSpent(turn) {
      const now = tokensOf(turn)
      if (budget.turn !== null && now >= budget.turn) return true
      const since = now - tokensOf(before)
      if (budget.conversation !== null && conversation + since >= budget.conversation) return true
      if (budget.day === null || owner === null) return false
      return (await chats.spent(owner, new Date().toISOString().slice(0, 10))) >= budget.day
    },
  }
}

export const budgetOf = (agent: Agent['budget'], day: number | null): Budget => ({ ...agent, day })

export const tokensOf = ({ inputTokens, outputTokens }: Omit<Usage, 'modelCalls'>): number =>
  inputTokens + outputTokens
