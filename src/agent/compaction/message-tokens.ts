import { estimateTokens } from '../../domain/tokens.ts'
import type { Message } from '../model.ts'

type Part = Exclude<Message['content'], string>[number]

/** What a provider writes around a message, and around a call or its result. */
const MESSAGE_FRAME = 4
const CALL_FRAME = 12

const measured = new WeakMap<Message | Part, number>()

/** An estimate of what messages cost together. A message that was measured once must not change. */
export function tokensOf(messages: readonly Message[]): number {
  let sum = 0
  for (const message of messages) sum += messageTokens(message)
  return sum
}

export function messageTokens(message: Message): number {
  const known = measured.get(message)
  if (known !== undefined) return known
  let tokens = MESSAGE_FRAME
  if (message.role === 'system') tokens += estimateTokens(message.content)
  else for (const part of message.content) tokens += partTokens(part)
  measured.set(message, tokens)
  return tokens
}

export function partTokens(part: Part): number {
  const known = measured.get(part)
  if (known !== undefined) return known
  const tokens = measure(part)
  measured.set(part, tokens)
  return tokens
}

function measure(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return estimateTokens(part.text)
    case 'tool-call':
      return CALL_FRAME + estimateTokens(part.toolName) + estimateTokens(toJson(part.input))
    case 'tool-result': {
      const { output } = part
      const whole = output.type === 'text' || output.type === 'error-text'
      return CALL_FRAME + estimateTokens(whole ? output.value : toJson(output))
    }
    default:
      return estimateTokens(toJson(part))
  }
}

const toJson = (value: unknown): string => JSON.stringify(value) ?? ''
