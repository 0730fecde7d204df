import { isErrorResult, textOf } from '../agent/answer-call.ts'
import type { TurnEvent } from '../agent/run-turn.ts'
import type { Answer } from '../store/idempotency.ts'
import { toStepUsage, toTurnResource } from './turn-resource.ts'

const MAX_OUTPUT = 2000

/** The agent's events as the caller sees them (api.md 4). */
export async function* present(events: AsyncIterable<TurnEvent>) {
  for await (const event of events) yield toWire(event)
}

/** A turn that ended before, as its first and its last event. */
export async function* presentKept({ body }: Answer) {
  const turn: { id: string; conversation_id: string } = JSON.parse(body ?? '{}')
  yield { type: 'turn.started', conversation_id: turn.conversation_id, turn_id: turn.id }
  yield { type: 'turn.finished', ...turn }
}

function toWire(event: TurnEvent) {
  const { type } = event
  switch (type) {
    case 'turn.started':
      return { type, conversation_id: event.conversationId, turn_id: event.turnId }
    case 'text.delta':
      return event
    case 'tool.called': {
      const { toolCallId: call_id, toolName: name, input } = event.call
      return { type, call_id, name, input, step: event.step }
    }
    case 'skill.loaded':
      return { type, ...event.loaded }
    case 'tool.finished': {
      const { result, step } = event
      const { toolCallId: call_id, toolName: name } = result
      const output = cut(textOf(result))
      return { type, call_id, name, is_error: isErrorResult(result), output, step }
    }
    case 'step.finished':
      return { type, step: event.step, usage: toStepUsage(event.usage) }
    case 'turn.finished':
      return { type, ...toTurnResource(event.view) }
  }
}

/** Never between the halves of a character. */
const cut = (text: string): string => {
  if (text.length <= MAX_OUTPUT) return text
  const end = text.slice(0, MAX_OUTPUT)
  return end.isWellFormed() ? end : end.slice(0, -1)
}
