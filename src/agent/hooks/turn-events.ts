import type { HookEvents } from './hook.ts'

const MAX_OUTPUT_CHARACTERS = 2000

export interface TurnPlace {
  conversationId: string
  turnId: string
  agent: string
}

export interface PromptSubmitted extends TurnPlace {
  prompt: string
}

export interface ToolCalled extends TurnPlace {
  step: number
  tool: string
  callId: string
  input: unknown
}

export interface ToolFinished extends ToolCalled {
  isError: boolean
  /** Whole: hooks are told its beginning and its length. */
  output: string
}

export interface TurnStopping extends TurnPlace {
  step: number
  /** What the model answers with. */
  output: string
}

const place = ({ conversationId, turnId, agent }: TurnPlace) => ({
  conversation_id: conversationId,
  turn_id: turnId,
  agent,
})

const call = (called: ToolCalled) => ({
  ...place(called),
  step: called.step,
  tool: called.tool,
  call_id: called.callId,
  input: called.input,
})

const part = (output: string) => ({
  output: output.slice(0, MAX_OUTPUT_CHARACTERS).toWellFormed(),
  output_characters: output.length,
})

export const toPromptEvent = (submitted: PromptSubmitted): HookEvents['UserPromptSubmit'] => ({
  event: 'UserPromptSubmit',
  ...place(submitted),
  prompt: submitted.prompt,
})

export const toCallEvent = (called: ToolCalled): HookEvents['PreToolUse'] => ({
  event: 'PreToolUse',
  ...call(called),
})

export const toResultEvent = (finished: ToolFinished): HookEvents['PostToolUse'] => ({
  event: 'PostToolUse',
  ...call(finished),
  is_error: finished.isError,
  ...part(finished.output),
})

export const toStopEvent = (stopping: TurnStopping): HookEvents['Stop'] => ({
  event: 'Stop',
  ...place(stopping),
  step: stopping.step,
  ...part(stopping.output),
})
