import type { Loaded } from '../domain/receipt.ts'
import type { AppError } from '../errors.ts'
import type { StopReason, TurnStatus } from '../store/chats.ts'
import { type LoopEnd, type ModelAnswered, runLoop } from './loop.ts'
import type { Models, ModelUsage, TextDelta, ToolCall, ToolResult } from './model.ts'
import type { Chats, OpenTurn } from './open-turn.ts'
import { type PlanParts, planStep } from './plan-step.ts'
import { failureOf, saveEnd, toAppError } from './save-end.ts'
import { toStepRecord } from './step-record.ts'
import { TurnLedger } from './turn-ledger.ts'
import { type TurnView, toView } from './turn-view.ts'

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
}

const ENDS: Record<LoopEnd, { status: TurnStatus; stopReason: StopReason }> = {
  answered: { status: 'completed', stopReason: 'answered' },
  tool_calls: { status: 'requires_action', stopReason: 'tool_calls' },
  max_steps: { status: 'incomplete', stopReason: 'max_steps' },
  max_tokens: { status: 'incomplete', stopReason: 'max_tokens' },
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
  const finished = (): TurnEvent => ({
    type: 'turn.finished',
    view: toView({ ...open.turn, ...ledger.state }, open.added, open.waiting),
  })
  let over = false
  try {
    yield { type: 'turn.started', conversationId: open.conversation.id, turnId: open.turn.id }
    if (open.waiting.size > 0) ledger.end(ENDS.tool_calls)
    else yield* runSteps(parts, open, ledger, signal)
    over = true
    yield finished()
  } catch (error) {
    over = true
    const told = await storeFailure(parts.chats, open, ledger, error, signal)
    if (!(signal.reason instanceof TurnCancelled)) throw told
    yield finished()
  } finally {
    // Whoever leaves once the end is stored takes nothing back.
    if (!over && ledger.state.status === 'running') {
      await storeFailure(parts.chats, open, ledger, undefined, signal)
    }
  }
}

async function* runSteps(
  parts: RunParts,
  open: OpenTurn,
  ledger: TurnLedger,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, void> {
  const { chats } = parts
  const { conversation, turn, messages, added, preloaded, waiting } = open
  const { settings } = conversation
  ledger.answered(preloaded)
  for (const loaded of preloaded) yield { type: 'skill.loaded', loaded }
  const loop = runLoop({
    messages,
    steps: turn.steps,
    maxSteps: settings.maxSteps,
    model: parts.models.open(settings.model),
    planStep: (sent) => planStep(parts, settings, sent),
    signal,
  })
  let last: ModelAnswered | undefined

  for await (const event of loop) {
    switch (event.type) {
      case 'text.delta':
        yield event
        break
      case 'model.answered':
        last = event
        ledger.stepped(event)
        added.push(event.message)
        // Without calls this is the end of the turn, and is stored together with it.
        if (event.calls.length > 0) {
          await chats.saveStep(turn.id, toStepRecord(event), ledger.state)
        }
        for (const { call } of event.calls) yield { type: 'tool.called', step: event.step, call }
        break
      case 'calls.answered': {
        const { step, results, message, loaded, denied } = event
        ledger.answered(loaded, denied)
        if (message) added.push(message)
        else ledger.end(ENDS.tool_calls)
        for (const { call, verdict } of last?.calls ?? []) {
          if (verdict.kind === 'client') waiting.add(call.toolCallId)
        }
        const answers = results.map((result) => ({ callId: result.toolCallId, result }))
        await chats.saveResults(turn.id, answers, message, ledger.state)
        for (const one of loaded) yield { type: 'skill.loaded', loaded: one }
        for (const result of results) yield { type: 'tool.finished', step, result }
        if (last) yield { type: 'step.finished', step, usage: last.usage }
        break
      }
      case 'loop.ended':
        ledger.end(ENDS[event.end])
        if (last?.calls.length === 0) {
          await chats.saveStep(turn.id, toStepRecord(last), ledger.state)
          yield { type: 'step.finished', step: last.step, usage: last.usage }
        } else if (event.end === 'max_steps') {
          await chats.saveState(turn.id, ledger.state)
        }
    }
  }
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
