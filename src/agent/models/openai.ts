import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { CallOptions } from './language-model.ts'

/** Chat completions of OpenAI or of any server that speaks them; `baseUrl` has its /v1. */
export const openAiLanguageModels = (
  apiKey: string | undefined,
  baseUrl: string,
  fetch: typeof globalThis.fetch,
) =>
  createOpenAICompatible({
    name: 'openai',
    apiKey,
    baseURL: baseUrl,
    fetch,
    includeUsage: true,
    transformRequestBody: new URL(baseUrl).host === 'api.openai.com' ? forOpenAi : undefined,
  })

/**
 * OpenAI's own models refuse `max_tokens` where they reason, and from 5.4 on refuse tools in chat
 * completions unless reasoning is off; other servers know only the older words.
 */
export function forOpenAi({ max_tokens, ...body }: Record<string, unknown>) {
  const reasonsByDefault = /^gpt-5\.([4-9]|\d\d)(?!.*(chat|pro|codex))/.test(String(body.model))
  return {
    ...body,
    max_completion_tokens: max_tokens,
    ...(reasonsByDefault && body.tools !== undefined ? { reasoning_effort: 'none' } : {}),
  }
}

/** Says what this wire has no field for: that a result is an error. Drops what another vendor signed. */
export const inPlainWords = ({ prompt, ...options }: CallOptions): CallOptions => ({
  ...options,
  prompt: prompt.map(plain),
})

function plain(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === 'assistant')
    return {
      ...message,
      content: message.content.filter(
        (part) => part.type !== 'reasoning' || !part.providerOptions?.anthropic,
      ),
    }
  if (message.role !== 'tool') return message
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'tool-result' && part.output.type === 'error-text'
        ? { ...part, output: { ...part.output, value: asError(part.output.value) } }
        : part,
    ),
  }
}

const asError = (text: string) => (/^error\b/i.test(text) ? text : `Error: ${text}`)
