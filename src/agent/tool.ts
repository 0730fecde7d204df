import type { LoadMark } from './loads.ts'

/** What the model is told of a tool; `inputSchema` is a JSON Schema of an object. */
export interface ToolDefinition {
  name: string
  description: string
  inputSchema: object
}

export interface ToolOutput {
  text: string
  /** Present when the call loaded a skill. */
  load?: LoadMark
}

/** What the model is told as an error result; any other error ends the turn. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** A tool of ours. */
export interface Tool extends ToolDefinition {
  /** `input` fits `inputSchema`. */
  run(input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutput>
}
