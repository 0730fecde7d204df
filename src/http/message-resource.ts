import { type Static, Type } from 'typebox'
import { isErrorResult, textOf } from '../agent/answer-call.ts'
import type { Message } from '../agent/model.ts'

export const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() })
const CallPart = Type.Object({
  type: Type.Literal('tool_call'),
  call_id: Type.String(),
  name: Type.String(),
  input: Type.Unknown(),
})
const ResultPart = Type.Object({
  type: Type.Literal('tool_result'),
  call_id: Type.String(),
  name: Type.String(),
  output: Type.String(),
  is_error: Type.Boolean(),
})

type Part = Static<typeof Part>
const Part = Type.Union([TextPart, CallPart, ResultPart])

export const MessageResource = Type.Object({
  role: Type.Enum(['user', 'assistant', 'tool']),
  content: Type.Array(Part),
})

/** A message as callers see it: reasoning stays between us and the provider. */
export function toMessageResource(message: Message): Static<typeof MessageResource> {
  const { role } = message
  if (role === 'system') return { role: 'user', content: [] }
  return { role, content: message.content.flatMap(toParts) }
}

type StoredPart = Exclude<Message['content'], string>[number]

function toParts(part: StoredPart): Part[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }]
    case 'tool-call':
      return [
        { type: 'tool_call', call_id: part.toolCallId, name: part.toolName, input: part.input },
      ]
    case 'tool-result':
      return [
        {
          type: 'tool_result',
          call_id: part.toolCallId,
          name: part.toolName,
          output: textOf(part),
          is_error: isErrorResult(part),
        },
      ]
    default:
      return []
  }
}
