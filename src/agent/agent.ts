import type { AllowedToolsMode } from './settings.ts'

/** A named set-up that conversations run with. Null leaves it to the service's settings. */
export interface Agent {
  instructions: string | null
  /** `anthropic/ID`, `openai/ID` or `offline`. */
  model: string | null
  /** Which skills it is offered: a request may narrow them further, and never widen them. */
  skills: { names: string[] | null; tags: string[] | null }
  /** Names or globs of the service's tools that it has; the caller's own are not among them. */
  tools: string[]
  maxSteps: number
  allowedToolsMode: AllowedToolsMode | null
  catalogMaxTokens: number | null
  /** Names or globs of its tools whose calls have to be approved. */
  approval: string[]
  /** How many tokens, in and out together, may be used before no further model call is made. */
  budget: { turn: number | null; conversation: number | null }
}

/** The one that always exists. */
export const DEFAULT_AGENT: Agent = {
  instructions: null,
  model: null,
  skills: { names: null, tags: null },
  tools: ['*'],
  maxSteps: 16,
  allowedToolsMode: null,
  catalogMaxTokens: null,
  approval: [],
  budget: { turn: null, conversation: null },
}
