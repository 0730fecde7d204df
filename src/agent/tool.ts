import type { SkillUse } from '../store/skill-uses.ts'
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
  /** Present when the call used a skill otherwise. */
  use?: Omit<SkillUse, 'step'>
}

/** What the model is told as an error result; any other error ends the turn. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** Where and for whom a call runs. */
export interface ToolContext {
  /** Aborted when the turn ends before the call does: what runs has to end with it. */
  signal: AbortSignal
  /** `conv_…` */
  conversationId: string
  callId: string
}

/** What a tool is called with; it fits the tool's `inputSchema`. */
export type ToolInput = Record<string, unknown>

/** A tool of ours. */
export interface Tool extends ToolDefinition {
  /** Why a call is refused before anything runs; undefined when it may run. */
  refusal?(input: ToolInput): string | undefined
  /** Whether a call has to be approved before it runs. */
  needsApproval?(input: ToolInput): boolean
  /** Running it a second time does no harm: it may be run again after a crash. */
  idempotent?: boolean
  /** It only reads what the service holds: its calls are stored together with their results. */
  immediate?: boolean
  /** The text may be of any length: what the model is shown of it is cut elsewhere. */
  run(input: ToolInput, context: ToolContext): Promise<ToolOutput>
}

/** Where tools of ours come from, besides those of skills. Asked anew for every step. */
export interface ToolSource {
  tools(step: ToolStep): Promise<Tool[]>
}

export interface ToolStep {
  conversationId: string
  /** The skills whose bodies are in the context, by name. */
  loads: ReadonlyMap<string, LoadMark>
}

/** Where it is only asked which tools there are. */
export const NO_STEP: ToolStep = { conversationId: '', loads: new Map() }
