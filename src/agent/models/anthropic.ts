import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { CallOptions } from './language-model.ts'

/** `baseUrl` is given without /v1, as Anthropic's own SDKs take it, and goes with it to this one. */
export const anthropicLanguageModels = (
  apiKey: string,
  baseUrl: string,
  fetch: typeof globalThis.fetch,
) => createAnthropic({ apiKey, baseURL: `${baseUrl.replace(/\/v1$/, '')}/v1`, fetch })

const CACHED = { cacheControl: { type: 'ephemeral' } }

/**
 * Marks what the next call will send again: the tools, the system prompt, and the conversation up
 * to its last two messages that are not the model's, the earlier of which ended the call before.
 */
export function withCacheMarks({ prompt, tools = [], ...options }: CallOptions): CallOptions {
  const ends = prompt
    .map(({ role }, index) => (role === 'user' || role === 'tool' ? index : -1))
    .filter((index) => index >= 0)
    .slice(-2)
  return {
    ...options,
    prompt: prompt.map((message, index) =>
      message.role === 'system' || ends.includes(index) ? marked(message) : message,
    ),
    tools: tools.map((tool, index) =>
      tool.type === 'function' && index === tools.length - 1
        ? { ...tool, providerOptions: { anthropic: CACHED } }
        : tool,
    ),
    // A model that thinks in silence is known to be alive by its pings.
    providerOptions: { anthropic: { includePings: true } },
  }
}

const marked = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: {
    ...message.providerOptions,
    anthropic: { ...message.providerOptions?.anthropic, ...CACHED },
  },
})
