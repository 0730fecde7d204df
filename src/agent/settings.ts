import type { ToolDefinition } from './tool.ts'

export const ALLOWED_TOOLS_MODES = ['restrict', 'preapprove', 'off'] as const
export type AllowedToolsMode = (typeof ALLOWED_TOOLS_MODES)[number]

/**
 * How a conversation is run. Kept with it: what a later request leaves out stays as it was, so
 * that going on with tool results needs nothing but the results.
 */
export interface Settings {
  /** Null is the configured one. */
  model: string | null
  /** Instead of the agent's own. */
  instructions: string | null
  /** What the caller has to say besides, behind the catalog. */
  afterCatalog: string | null
  /** Which skills are on offer; null does not narrow. */
  skills: { names: string[] | null; tags: string[] | null }
  /** The caller's tools: their calls are handed to the caller. */
  tools: ToolDefinition[]
  /** Null is the agent's. */
  maxSteps: number | null
  maxOutputTokens: number | null
  temperature: number | null
  /** Null is the configured one. */
  allowedToolsMode: AllowedToolsMode | null
}

export const DEFAULT_SETTINGS: Settings = {
  model: null,
  instructions: null,
  afterCatalog: null,
  skills: { names: null, tags: null },
  tools: [],
  maxSteps: null,
  maxOutputTokens: null,
  temperature: null,
  allowedToolsMode: null,
}
