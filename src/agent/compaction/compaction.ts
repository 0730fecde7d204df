import type { Message, ToolResult } from '../model.ts'
import { type Body, bodiesIn } from './bodies.ts'
import { leftOutLine, type Reference, toReference } from './reference.ts'
import { type Summary, summaryMessage } from './summary-message.ts'

/**
 * How a conversation is shown to the model, whose messages stay stored as they are. Kept with the
 * conversation as JSON, so that what is shown keeps its bytes from step to step.
 */
export interface Compaction {
  references: readonly Reference[]
  summary: Summary | null
  /** How many of the skills' bodies are left out, counted from the oldest of the conversation. */
  dropped: number
}

export const NO_COMPACTION: Compaction = { references: [], summary: null, dropped: 0 }

/**
 * What the model is sent: the very messages where nothing is compacted. Messages that are added
 * later come behind and change nothing before them.
 */
export function applyCompaction(
  messages: readonly Message[],
  { references, summary, dropped }: Compaction,
): readonly Message[] {
  if (references.length === 0 && summary === null && dropped === 0) return messages
  const bodies = summary || dropped > 0 ? bodiesIn(messages) : []
  const gone = new Map(bodies.slice(0, dropped).map((body) => [body.part, body]))
  const heads = new Map(references.map(({ callId, head }) => [callId, head]))
  const kept = messages
    .slice(summary?.upTo ?? 0)
    .map((message) => withReferences(message, heads, gone))
  if (!summary) return kept
  const earlier = bodies.filter(({ index }) => index < summary.upTo)
  return [summaryMessage(messages, summary, earlier, ({ part }) => gone.has(part)), ...kept]
}

type Gone = ReadonlyMap<Body['part'], Body>

function withReferences(message: Message, heads: ReadonlyMap<string, number>, gone: Gone): Message {
  if (message.role === 'tool') {
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? shownResult(part, heads, gone) : part,
    )
    const same = content.every((part, index) => part === message.content[index])
    return same ? message : { ...message, content }
  }
  if (message.role !== 'user') return message
  const isGone = message.content.some((part) => part.type === 'text' && gone.has(part))
  if (!isGone) return message
  const content = message.content.map((part) => {
    const body = part.type === 'text' ? gone.get(part) : undefined
    return body ? { type: 'text' as const, text: leftOutLine(body.load) } : part
  })
  return { ...message, content }
}

function shownResult(
  result: ToolResult,
  heads: ReadonlyMap<string, number>,
  gone: Gone,
): ToolResult {
  const body = gone.get(result)
  if (body) {
    const { toolCallId, toolName } = result
    const output = { type: 'text' as const, value: leftOutLine(body.load) }
    return { type: 'tool-result', toolCallId, toolName, output }
  }
  const head = heads.get(result.toolCallId)
  return head === undefined ? result : toReference(result, head)
}
