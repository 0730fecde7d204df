import type { TurnState } from '../store/chats.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import { leave, type Model, type ModelRequest, type Reply } from './model.ts'
import { toAppError } from './save-end.ts'

/** Told of turns while they run, so that they can be counted and traced. Never throws nor waits. */
export interface Observer {
  turnBegan(turn: ObservedTurn): TurnObserver
}

interface ObservedTurn {
  conversationId: string
  turnId: string
  agent: string
  /** `anthropic/ID`, `openai/ID` or `offline`. */
  model: string
}

/** What happens in one turn; `ended` comes last, and always. */
export interface TurnObserver {
  modelAsked(call: ObservedModelCall): ModelCallObserver
  toolCalled(call: ObservedToolCall): ToolCallObserver
  /** A call waits for the caller, who runs the tool or approves that we do. */
  callWaits(call: Pick<ObservedToolCall, 'tool'>, kind: 'client' | 'approval'): void
  skillUsed(use: Omit<SkillUse, 'step'>): void
  compacted(): void
  ended(state: TurnState): void
}

export interface ObservedModelCall {
  purpose: 'step' | 'summary'
  request: Pick<ModelRequest, 'maxOutputTokens' | 'temperature'>
}

export interface ModelCallObserver {
  /** The first of its text is here. */
  spoke(): void
  replied(reply: Pick<Reply, 'usage' | 'cut'>): void
  /** `why` is a code of errors.ts, or `cancelled` when nobody waits for it any more. */
  failed(why: string): void
}

export interface ObservedToolCall {
  callId: string
  /** Null when it is none of ours, so that any name at all may have been called. */
  tool: string | null
}

interface ToolCallObserver {
  /** `error` and `refused` are told to the model, `failed` ends the turn. */
  ended(outcome: 'ok' | 'error' | 'refused' | 'failed', output: string): void
}

/** The model, with every call of it told of. */
export function observeModel(
  model: Model,
  turn: Pick<TurnObserver, 'modelAsked'>,
  purpose: ObservedModelCall['purpose'],
): Model {
  return async function* (request) {
    const call = turn.modelAsked({ purpose, request })
    const speaking = model(request)
    let why = 'cancelled'
    let reply: Reply | undefined
    try {
      const first = await speaking.next()
      if (first.done) reply = first.value
      else {
        call.spoke()
        yield first.value
        reply = yield* speaking
      }
      return reply
    } catch (error) {
      if (!request.signal.aborted) why = toAppError(error).code
      throw error
    } finally {
      if (reply) call.replied(reply)
      else {
        call.failed(why)
        // Whoever left at the first text has not told the model yet.
        await leave(speaking)
      }
    }
  }
}

/** Tells the one, then the other. */
export function joinObservers(one: Observer, other: Observer): Observer {
  return {
    turnBegan: (turn) => {
      const both = [one.turnBegan(turn), other.turnBegan(turn)]
      const each = (tell: (observer: TurnObserver) => void) => both.forEach(tell)
      return {
        modelAsked(asked) {
          const calls = both.map((observer) => observer.modelAsked(asked))
          return {
            spoke: () => calls.forEach((call) => void call.spoke()),
            replied: (reply) => calls.forEach((call) => void call.replied(reply)),
            failed: (why) => calls.forEach((call) => void call.failed(why)),
          }
        },
        toolCalled(called) {
          const calls = both.map((observer) => observer.toolCalled(called))
          return {
            ended: (outcome, output) => calls.forEach((call) => void call.ended(outcome, output)),
          }
        },
        callWaits: (call, kind) => each((observer) => observer.callWaits(call, kind)),
        skillUsed: (use) => each((observer) => observer.skillUsed(use)),
        compacted: () => each((observer) => observer.compacted()),
        ended: (state) => each((observer) => observer.ended(state)),
      }
    },
  }
}
