interface TurnEvent {
  conversation_id: string
  turn_id: string
  agent: string
}

interface CallEvent extends TurnEvent {
  step: number
  tool: string
  call_id: string
  /** As the model gave it: an object, unless it made a mistake. */
  input: unknown
}

/** What hooks are told, as modules take it and webhooks receive it. */
export interface HookEvents {
  UserPromptSubmit: TurnEvent & { event: 'UserPromptSubmit'; prompt: string }
  PreToolUse: CallEvent & { event: 'PreToolUse' }
  PostToolUse: CallEvent & { event: 'PostToolUse'; is_error: boolean } & OutputPart
  Stop: TurnEvent & { event: 'Stop'; step: number } & OutputPart
}

interface OutputPart {
  /** Its first 2,000 characters. */
  output: string
  /** How long it is, whole. */
  output_characters: number
}

export type HookName = keyof HookEvents
export const HOOK_NAMES = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const

/** What a module exports: any of these functions, async or not. */
export type HookModule = { [Name in HookName]?: (event: HookEvents[Name]) => unknown }

/** One link of the chain. */
export interface Hook {
  /** How the log calls it; without secrets. */
  label: string
  hears(name: HookName): boolean
  /** Hands the event over as JSON, and answers what the hook answers. */
  call(name: HookName, json: string, signal: AbortSignal): Promise<unknown>
}
