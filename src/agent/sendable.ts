import type { AssistantMessage, Message, ToolCall } from './model.ts'

/**
 * The message as every provider takes it back. A result must belong to one call, so calls are
 * renamed whose id the conversation has already; and a tool's name, which a model may make up,
 * has to be one that a tool could have.
 */
export function sendable(message: AssistantMessage, earlier: readonly Message[]): AssistantMessage {
  const taken = new Set<string>()
  for (const { role, content } of earlier) {
    if (role !== 'assistant') continue
    for (const part of content) if (part.type === 'tool-call') taken.add(part.toolCallId)
  }
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, ...named(part, taken) } : part,
  )
  return { ...message, content }
}

function named({ toolCallId: wanted, toolName }: ToolCall, taken: Set<string>) {
  let toolCallId = wanted
  for (let suffix = 2; taken.has(toolCallId); suffix++) toolCallId = `${wanted}_${suffix}`
  taken.add(toolCallId)
  return { toolCallId, toolName: isToolName(toolName) ? toolName : madeToolName(toolName) }
}

/** The vendors' code looks names up in plain objects, where those of every object are found too. */
export const isToolName = (name: string): boolean =>
  /^[a-zA-Z0-9_-]{1,128}$/.test(name) && !(name in {})

const madeToolName = (name: string): string =>
  `unknown_${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100)}`
