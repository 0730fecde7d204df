import type {
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { ToolDefinition } from './tool.ts'

// The port. The rest of the house says these names and never the vendor's.
export type Message = LanguageModelV4Message
export type AssistantMessage = Extract<Message, { role: 'assistant' }>
export type ToolCall = LanguageModelV4ToolCallPart
export type ToolResult = LanguageModelV4ToolResultPart

/** What one model call cost, as the provider counts. `inputTokens` includes the cached ones. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

export interface ModelRequest {
  system: string
  messages: readonly Message[]
  tools: readonly ToolDefinition[]
  signal: AbortSignal
  /** Null takes the provider's default. */
  temperature: number | null
  maxOutputTokens: number
  /** Whether a tool has to be called, or which; absent: as the model likes. */
  toolChoice?: 'required' | { name: string } | undefined
}

export interface Reply {
  message: AssistantMessage
  usage: ModelUsage
  /** Whether the limit on output ended it. */
  cut: boolean
}

export interface TextDelta {
  type: 'text.delta'
  text: string
}

/**
 * A language model: streams text, then returns the whole message. Rejects with `signal.reason`
 * once that is aborted, and with an AppError (`model_error`, `model_unavailable`,
 * `model_timeout`) when the provider fails.
 */
export type Model = (request: ModelRequest) => AsyncGenerator<TextDelta, Reply, void>

/** Whoever leaves while a model speaks ends its request. */
export const leave = (speaking: AsyncGenerator<unknown, unknown, void>) =>
  speaking.return(undefined)

/**
 * The models that a request may name: `anthropic/ID`, `openai/ID`, `offline`; null is the
 * configured one. Throws `model_invalid` for what cannot be used here.
 */
export interface Models {
  readonly defaultName: string
  open(name: string | null): Model
  /** Ends the connections to the providers. */
  close(): Promise<void>
}
