import { loadOn } from './loads.ts'
import type { Message } from './model.ts'

/**
 * What a conversation is about: what its user said first. It stays the same in every later turn,
 * so that a choice made by it does too, and providers can cache the prompt it stands in.
 */
export function requestText(messages: readonly Message[]): string {
  const said: string[] = []
  for (const message of messages) {
    if (message.role !== 'user') break
    for (const part of message.content) {
      if (part.type === 'text' && !loadOn(part)) said.push(part.text)
    }
  }
  return said.join('\n')
}
