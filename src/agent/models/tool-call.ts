import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { ToolCall } from '../model.ts'

const MAX_MALFORMED = 2000

/** Arguments that are no JSON object are set aside: the call must stay valid when sent back. */
export function toToolCall(part: LanguageModelV4ToolCall, toolCallId: string): ToolCall {
  const { toolName, input, providerMetadata } = part
  const call: ToolCall = { type: 'tool-call', toolCallId, toolName, input: {} }
  if (providerMetadata) call.providerOptions = providerMetadata
  const value = parseObject(input.trim() || '{}')
  if (value) return { ...call, input: value }
  const malformed = input.slice(0, MAX_MALFORMED)
  return { ...call, providerOptions: { ...providerMetadata, loadskill: { malformed } } }
}

function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json, (key, inner) =>
      key === '__proto__' ? undefined : inner,
    )
    return value instanceof Object && !Array.isArray(value) ? value : undefined
  } catch {
    // Told to the model, in the same words as a value that is no object.
    return undefined
  }
}
