import type { LoadMark } from '../loads.ts'
import type { ToolResult } from '../model.ts'
import { headOf } from './cut-text.ts'

/** A result that is shown shortened: how many of its first characters are kept. */
export interface Reference {
  callId: string
  head: number
}

/** The result in short: where the whole is kept, and nothing that could be taken for an order. */
export function toReference(result: ToolResult, head: number): ToolResult {
  const { toolCallId, toolName, output } = result
  const text = plainText(result)
  if (text === undefined || (output.type !== 'text' && output.type !== 'error-text')) return result
  const whole = text.length.toLocaleString('en')
  const value =
    head > 0
      ? `${headOf(text, head)}\n[The first ${head.toLocaleString('en')} of ${whole} characters. The whole output of this call is stored as tool result ${toolCallId}.]`
      : `[The output of this call (${whole} characters) is stored as tool result ${toolCallId}.]`
  return { type: 'tool-result', toolCallId, toolName, output: { type: output.type, value } }
}

/** Undefined for a result that is not text. */
export const plainText = ({ output }: ToolResult): string | undefined =>
  output.type === 'text' || output.type === 'error-text' ? output.value : undefined

/** What stands in the place of a skill's body that is no longer shown. */
export const leftOutLine = ({ name, version }: LoadMark): string =>
  `[The skill "${name}" (version ${version}) was loaded here. Its text is no longer in the context; it can be loaded again.]`
