import { randomUUID } from 'node:crypto'
import type { TurnEvent } from '../../agent/run-turn.ts'
import type { TurnView } from '../../agent/turn-view.ts'
import { SKILL_TOOLS } from '../../domain/tool-permissions.ts'
import { AppError } from '../../errors.ts'
import { type TurnResource, toTurnResource } from '../../http/turn-resource.ts'
import type { Usage } from '../../store/chats.ts'

/** What stays the same in all chunks of an answer. */
export interface Head {
  id: string
  /** Unix seconds. */
  created: number
  model: string
}

export const newHead = (model: string): Head => ({
  id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(Date.now() / 1000),
  model,
})

/** What an answer ends with, besides what was said. */
export interface Ending {
  finishReason: 'stop' | 'length' | 'tool_calls'
  calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  usage: TurnResource['usage']
  loadskill: Pick<TurnResource, 'conversation_id' | 'receipt'> & { turn_id: string }
}

/**
 * The text that the model says, in pieces, the steps of the turn parted by a blank line. Throws
 * when the turn was cancelled: half an answer must not read as a whole one.
 */
export async function* speak(
  events: AsyncIterable<TurnEvent>,
  onToolRun: () => void,
): AsyncGenerator<string, TurnView, void> {
  let said = false
  let stepped = false
  for await (const event of events) {
    switch (event.type) {
      case 'text.delta':
        yield said && stepped ? `\n\n${event.text}` : event.text
        said = true
        stepped = false
        break
      case 'tool.finished':
        if (!SKILL_TOOLS.includes(event.result.toolName)) onToolRun()
        break
      case 'step.finished':
        stepped = true
        break
      case 'turn.finished':
        return event.view
    }
  }
  throw new Error('The turn ended without an end.')
}

/** `before` is what the turn had used when this request began. */
export function endingOf(turn: TurnResource, before?: Usage): Ending {
  return {
    finishReason: finishReasonOf(turn.stop_reason),
    calls: turn.pending.map(({ call_id: id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
    usage: before ? usageSince(turn.usage, before) : turn.usage,
    loadskill: {
      conversation_id: turn.conversation_id,
      turn_id: turn.id,
      receipt: turn.receipt,
    },
  }
}

export const endingOfView = (view: TurnView, before: Usage): Ending =>
  endingOf(toTurnResource(view), before)

function finishReasonOf(reason: TurnResource['stop_reason']): Ending['finishReason'] {
  switch (reason) {
    case 'answered':
      return 'stop'
    case 'tool_calls':
      return 'tool_calls'
    case 'max_tokens':
    case 'max_steps':
    case 'budget':
      return 'length'
    default:
      throw new AppError('request_invalid', 'The turn was cancelled.')
  }
}

const usageSince = (usage: TurnResource['usage'], before: Usage): TurnResource['usage'] => ({
  model_calls: usage.model_calls - before.modelCalls,
  input_tokens: usage.input_tokens - before.inputTokens,
  output_tokens: usage.output_tokens - before.outputTokens,
  cache_read_tokens: usage.cache_read_tokens - before.cacheReadTokens,
  cache_write_tokens: usage.cache_write_tokens - before.cacheWriteTokens,
})

const toUsage = ({ input_tokens, output_tokens, cache_read_tokens }: Ending['usage']) => ({
  prompt_tokens: input_tokens,
  completion_tokens: output_tokens,
  total_tokens: input_tokens + output_tokens,
  prompt_tokens_details: { cached_tokens: cache_read_tokens },
})

export function toCompletion({ id, ...head }: Head, text: string, ending: Ending) {
  const { calls, finishReason, usage, loadskill } = ending
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id,
    object: 'chat.completion',
    ...head,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: toUsage(usage),
    loadskill,
  }
}

/** The same as chunks; `withUsage` adds one with the usage, and says in all others that it comes. */
export async function* toChunks(
  { id, ...head }: Head,
  spoken: AsyncGenerator<string, Ending, void>,
  withUsage: boolean,
): AsyncGenerator<object, void, void> {
  const chunk = (choices: object[], more: object = {}) => ({
    id,
    object: 'chat.completion.chunk',
    ...head,
    choices,
    ...(withUsage && { usage: null }),
    ...more,
  })
  const choice = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason },
  ]
  const first = chunk(choice({ role: 'assistant', content: '' }))

  let begun = false
  let next = await spoken.next()
  for (; !next.done; next = await spoken.next()) {
    if (!begun) yield first
    begun = true
    yield chunk(choice({ content: next.value }))
  }
  if (!begun) yield first
  const { calls, finishReason, usage, loadskill } = next.value
  for (const [index, call] of calls.entries()) {
    const { name, arguments: json } = call.function
    const opened = { ...call, function: { name, arguments: '' } }
    yield chunk(choice({ tool_calls: [{ index, ...opened }] }))
    yield chunk(choice({ tool_calls: [{ index, function: { arguments: json } }] }))
  }
  yield chunk(choice({}, finishReason), { loadskill })
  if (withUsage) yield chunk([], { usage: toUsage(usage) })
}
