import { judge } from './answer-call.ts'
import type { Chats } from './chats.ts'
import type { TurnObserver } from './observer.ts'
import type { OpenTurn, UnansweredCall } from './opened-turn.ts'
import type { StepPlan } from './plan-step.ts'
import { type JudgedCall, runCalls } from './run-calls.ts'
import type { TurnEvent } from './run-turn.ts'
import { INTERRUPTED, toolMessage } from './settle-calls.ts'
import type { TurnHooks } from './turn-hooks.ts'
import type { TurnLedger } from './turn-ledger.ts'
import { waitingEnd } from './turn-view.ts'

interface Surroundings {
  ledger: TurnLedger
  hooks: TurnHooks
  observer: TurnObserver
  plan: StepPlan
  signal: AbortSignal
}

/** Answers the calls that the last step left, with the tools as they are now. */
export async function* runUnanswered(
  chats: Chats,
  { conversation, turn, messages, added, unanswered, waiting }: OpenTurn,
  { ledger, hooks, observer, plan, signal }: Surroundings,
): AsyncGenerator<TurnEvent, void, void> {
  const step = turn.steps
  const calls = await Promise.all(unanswered.map((one) => judgeAgain(one, plan, hooks, step)))
  const { ours } = plan.toolbox
  const context = { step, conversationId: conversation.id, signal, hooks, observer, ours }
  const { outcomes, loaded, denied, uses } = await runCalls(calls, context)
  ledger.answered(loaded, denied)

  const done = waiting.size === 0
  const message = done ? toolMessage(await chats.lastCalls(conversation.id), outcomes) : undefined
  if (message) {
    messages.push(message)
    added.push(message)
  } else ledger.end(waitingEnd(waiting.values()))
  await chats.saveResults(turn.id, outcomes, message, ledger.state, { uses })
  for (const one of loaded) yield { type: 'skill.loaded', loaded: one }
  for (const { result } of outcomes) yield { type: 'tool.finished', step, result }
}

/** What ran when the turn was interrupted is run again only where that does no harm. */
async function judgeAgain(
  { call, because }: UnansweredCall,
  { toolbox }: StepPlan,
  hooks: TurnHooks,
  step: number,
): Promise<JudgedCall> {
  const verdict = await judge(call, toolbox, {
    hooks,
    step,
    approved: because === 'approved',
  })
  if (because === 'interrupted' && !(verdict.kind === 'tool' && verdict.tool.idempotent)) {
    return { call, verdict: { kind: 'refused', why: INTERRUPTED } }
  }
  if (verdict.kind === 'tool' || verdict.kind === 'refused') return { call, verdict }
  const why = `There is no tool named "${call.toolName}" any more.`
  return { call, verdict: { kind: 'refused', why } }
}
