import type { Loaded } from '../domain/receipt.ts'
import type { AppError } from '../errors.ts'
import { budgetOf, openBudget } from './budget.ts'
import type { Chats } from './chats.ts'
import type { Hooks } from './hooks/open-hooks.ts'
import { loadOn, toUse } from './loads.ts'
import { runLoop } from './loop.ts'
import type { Message, Models, ModelUsage, TextDelta, ToolCall, ToolResult } from './model.ts'
import { type Observer, observeModel, type TurnObserver } from './observer.ts'
import type { OpenTurn } from './opened-turn.ts'
import type { PlanParts } from './plan-step.ts'
import { openContext } from './prepare-step.ts'
import { runUnanswered } from './run-unanswered.ts'
import { failureOf, saveEnd, toAppError } from './save-end.ts'
import { storeSteps } from './store-steps.ts'
import { openTurnHooks } from './turn-hooks.ts'
import { TurnLedger } from './turn-ledger.ts'
import { type TurnView, toView, waitingEnd } from './turn-view.ts'

export type TurnEvent =
  | { type: 'turn.started'; conversationId: string; turnId: string }
  | TextDelta
  | { type: 'tool.called'; step: number; call: ToolCall }
  | { type: 'skill.loaded'; loaded: Loaded }
  | { type: 'tool.finished'; step: number; result: ToolResult }
  | { type: 'step.finished'; step: number; usage: ModelUsage }
  | { type: 'turn.finished'; view: TurnView }

export interface RunParts extends PlanParts {
  chats: Chats
  models: Models
  hooks: Hooks
  observer: Observer
}

/** The reason of a signal that ends a turn because somebody asked for it. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}

/**
 * Runs a turn that was opened, storing every step before the next. Ends with `turn.finished`, or
 * throws once the turn is stored as failed or interrupted; a consumer that leaves interrupts it.
 */
export async function* runTurn(
  parts: RunParts,
  open: OpenTurn,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, void> {
  const ledger = new TurnLedger(open.turn)
  const observer = parts.observer.turnBegan({
    conversationId: open.conversation.id,
    turnId: open.turn.id,
    agent: open.conversation.agent,
    model: open.setup.model ?? parts.models.defaultName,
  })
  const finished = (): TurnEvent => ({
    type: 'turn.finished',
    view: toView({ ...open.turn, ...ledger.state }, open.added, open.waiting),
  })
  let over = false
  try {
    yield { type: 'turn.started', conversationId: open.conversation.id, turnId: open.turn.id }
    yield* runSteps({ ...parts, observer }, open, ledger, signal)
    over = true
    yield finished()
  } catch (error) {
    over = true
    const told = await storeFailure(parts.chats, open, ledger, error, signal)
    if (!(signal.reason instanceof TurnCancelled)) throw told
    yield finished()
  } finally {
    try {
      // Whoever leaves once the end is stored takes nothing back.
      if (!over && ledger.state.status === 'running') {
        await storeFailure(parts.chats, open, ledger, undefined, signal)
      }
    } finally {
      observer.ended(ledger.state)
    }
  }
}

async function* runSteps(
  parts: Omit<RunParts, 'observer'> & { observer: TurnObserver },
  open: OpenTurn,
  ledger: TurnLedger,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, void> {
  const { chats, observer } = parts
  const { conversation, setup, turn, messages, preloaded, waiting } = open
  const hooks = openTurnHooks(parts.hooks, open)
  const model = parts.models.open(setup.model)
  const context = await openContext(parts, open, { model, observer, signal })
  if (open.unanswered.length > 0) {
    const { plan } = await context.show(messages)
    yield* runUnanswered(chats, open, { ledger, hooks, observer, plan, signal })
  }
  if (waiting.size > 0) return ledger.end(waitingEnd(waiting.values()))

  const said = open.unanswered.length === 0 ? lastSaid(messages) : undefined
  if (said !== undefined) await hooks.prompted(said)
  ledger.answered(preloaded)
  for (const loaded of preloaded) {
    observer.skillUsed(toUse(loaded, 0))
    yield { type: 'skill.loaded', loaded }
  }
  const { owner } = conversation
  const budget = await openBudget(chats, budgetOf(setup.budget, open.dayBudget), {
    conversationId: conversation.id,
    owner,
    before: turn.usage,
  })
  const loop = runLoop({
    conversationId: conversation.id,
    messages,
    steps: turn.steps,
    maxSteps: setup.maxSteps,
    model: observeModel(model, observer, 'step'),
    hooks,
    observer,
    isSpent: () => budget.isSpent(ledger.state.usage),
    prepare: context.prepare,
    signal,
  })
  yield* storeSteps(chats, open, ledger, loop)
}

/** What the turn begins with; undefined when it goes on. */
function lastSaid(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'user') return undefined
  const texts = last.content.filter((part) => part.type === 'text' && !loadOn(part))
  return texts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** Stores how the turn ended, and gives back what the caller is told. */
async function storeFailure(
  chats: Chats,
  { conversation, turn }: OpenTurn,
  ledger: TurnLedger,
  error: unknown,
  signal: AbortSignal,
): Promise<AppError> {
  const told = toAppError(error)
  ledger.end(
    error === undefined || signal.aborted
      ? { status: 'interrupted', stopReason: 'cancelled' }
      : failureOf(error),
  )
  await saveEnd(chats, turn.id, ledger.state)
  return told.about({ conversation_id: conversation.id, turn_id: turn.id })
}
