import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Config } from '../../config.ts'
import type { Model, ModelRequest } from '../model.ts'
import { Answer } from './answer.ts'
import { namedFailure, readFailure, toAppError, tooSlow } from './failure.ts'
import { waitBeforeRetry } from './retry.ts'
import { streamParts, type TimeLimits } from './stream-parts.ts'

export type CallOptions = Pick<
  LanguageModelV4CallOptions,
  'prompt' | 'tools' | 'toolChoice' | 'maxOutputTokens' | 'temperature' | 'providerOptions'
>
type Limits = TimeLimits & Pick<Config, 'MODEL_ANSWER_TIMEOUT_MS' | 'MODEL_MAX_ANSWER_BYTES'>

/** Any provider's language model as ours; `adapt` says what only this provider wants said. */
export function fromLanguageModel(
  vendor: LanguageModelV4,
  limits: Limits,
  adapt: (options: CallOptions) => CallOptions,
): Model {
  return async function* ask(request) {
    const options = adapt(toCallOptions(request))
    const overall = limitedTo(limits.MODEL_ANSWER_TIMEOUT_MS, request.signal)
    let told = false

    try {
      for (let tries = 1; ; tries++) {
        try {
          const answer = new Answer(limits.MODEL_MAX_ANSWER_BYTES)
          for await (const part of streamParts(vendor, options, limits, overall.signal)) {
            const text = answer.add(part)
            if (text === '') continue
            told = true
            yield { type: 'text.delta', text }
          }
          return answer.reply()
        } catch (error) {
          overall.signal.throwIfAborted()
          const named = namedFailure(error)
          if (named) throw named
          const failure = readFailure(error)
          const wait = told ? undefined : waitBeforeRetry(failure, tries)
          if (wait === undefined) throw toAppError(failure)
          await sleep(wait, undefined, { signal: overall.signal }).catch(() =>
            overall.signal.throwIfAborted(),
          )
        }
      }
    } finally {
      overall.end()
    }
  }
}

const toCallOptions = ({
  system,
  messages,
  tools,
  temperature,
  maxOutputTokens,
  toolChoice,
}: ModelRequest): CallOptions => ({
  // A blank text is refused by the providers.
  prompt: system.trim() ? [{ role: 'system', content: system }, ...messages] : [...messages],
  tools: tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema,
  })),
  toolChoice: toolChoice && toToolChoice(toolChoice),
  maxOutputTokens,
  temperature: temperature ?? undefined,
})

const toToolChoice = (
  choice: Exclude<ModelRequest['toolChoice'], undefined>,
): CallOptions['toolChoice'] =>
  choice === 'required' ? { type: 'required' } : { type: 'tool', toolName: choice.name }

/** A signal that follows the caller's, and fires by itself when the answer takes too long. */
function limitedTo(milliseconds: number, caller: AbortSignal) {
  const controller = new AbortController()
  const leave = () => controller.abort(caller.reason)
  if (caller.aborted) leave()
  caller.addEventListener('abort', leave)
  const timer = setTimeout(
    () => controller.abort(tooSlow('was not done within', milliseconds)),
    milliseconds,
  )
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      caller.removeEventListener('abort', leave)
    },
  }
}
