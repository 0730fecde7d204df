import type { StopReason, TurnStatus } from '../store/chats.ts'
import { tokensOf } from './budget.ts'
import type { Chats } from './chats.ts'
import type { LoopEnd, LoopEvent, ModelAnswered } from './loop.ts'
import type { OpenTurn } from './opened-turn.ts'
import type { TurnEvent } from './run-turn.ts'
import { isImmediate, toStepRecord } from './step-record.ts'
import type { TurnLedger } from './turn-ledger.ts'
import { waitingEnd } from './turn-view.ts'

const ENDS: Record<Exclude<LoopEnd, 'waiting'>, { status: TurnStatus; stopReason: StopReason }> = {
  answered: { status: 'completed', stopReason: 'answered' },
  max_steps: { status: 'incomplete', stopReason: 'max_steps' },
  max_tokens: { status: 'incomplete', stopReason: 'max_tokens' },
  budget: { status: 'incomplete', stopReason: 'budget' },
}

/**
 * Stores what the loop does before it goes on, and tells of it. A step is stored before its calls
 * run; only where nothing happens in them that could be lost, together with what comes of them.
 */
export async function* storeSteps(
  chats: Chats,
  { turn, added, waiting }: OpenTurn,
  ledger: TurnLedger,
  loop: AsyncIterable<LoopEvent>,
): AsyncGenerator<TurnEvent, void, void> {
  let last: ModelAnswered | undefined
  let unsaved: ModelAnswered | undefined

  async function save(...[answered, followed]: Parameters<typeof toStepRecord>): Promise<void> {
    unsaved = undefined
    await chats.saveStep(turn.id, toStepRecord(answered, followed), ledger.state)
  }

  try {
    for await (const event of loop) {
      switch (event.type) {
        case 'text.delta':
          yield event
          break
        case 'context.compacted': {
          const { compaction, calls } = event
          ledger.called(calls)
          const tokens = calls.reduce((sum, usage) => sum + tokensOf(usage), 0)
          await chats.saveCompaction(turn.id, { compaction, tokens }, ledger.state)
          break
        }
        case 'model.answered':
          last = event
          ledger.stepped(event)
          added.push(event.message)
          if (isImmediate(event)) unsaved = event
          else await save(event)
          for (const { call } of event.calls) yield { type: 'tool.called', step: event.step, call }
          break
        case 'turn.prolonged':
          added.push(event.message)
          if (unsaved) await save(unsaved, event)
          if (last) yield { type: 'step.finished', step: last.step, usage: last.usage }
          break
        case 'calls.answered': {
          const { step, outcomes, message, loaded, denied, uses } = event
          ledger.answered(loaded, denied)
          for (const { call, verdict } of last?.calls ?? []) {
            const { kind } = verdict
            if (kind === 'client' || kind === 'approval') waiting.set(call.toolCallId, kind)
          }
          if (message) added.push(message)
          else ledger.end(waitingEnd(waiting.values()))
          if (unsaved) await save(unsaved, event)
          else await chats.saveResults(turn.id, outcomes, message, ledger.state, { uses })
          for (const one of loaded) yield { type: 'skill.loaded', loaded: one }
          for (const { result } of outcomes) yield { type: 'tool.finished', step, result }
          if (last) yield { type: 'step.finished', step, usage: last.usage }
          break
        }
        case 'loop.ended':
          if (event.end === 'waiting') break
          ledger.end(ENDS[event.end])
          if (unsaved) {
            const { step, usage } = unsaved
            await save(unsaved)
            yield { type: 'step.finished', step, usage }
          } else await chats.saveState(turn.id, ledger.state)
      }
    }
  } finally {
    // What broke off between a model call and the answers to its calls can go on from there.
    if (unsaved && unsaved.calls.length > 0) await save(unsaved)
  }
}
