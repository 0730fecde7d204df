import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { Config } from '../../config.ts'
import { tooSlow } from './failure.ts'

export type TimeLimits = Pick<Config, 'MODEL_TIMEOUT_MS' | 'MODEL_IDLE_TIMEOUT_MS'>

/** A provider that has said all may close the stream, so that its connection can be used again. */
const CLOSING_MS = 250

/**
 * The parts of one answer, each within its time. However this is left, by an error or by a
 * consumer that stops reading, the request to the provider ends with it.
 */
export async function* streamParts(
  vendor: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  { MODEL_TIMEOUT_MS, MODEL_IDLE_TIMEOUT_MS }: TimeLimits,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV4StreamPart, void, void> {
  const controller = new AbortController()
  const leave = () => controller.abort(signal.reason)
  signal.addEventListener('abort', leave)
  const expect = (milliseconds: number, what: string) =>
    setTimeout(() => controller.abort(tooSlow(what, milliseconds)), milliseconds)
  let timer = expect(MODEL_TIMEOUT_MS, 'did not begin to answer within')
  let finished = false
  let over = false

  try {
    signal.throwIfAborted()
    const { stream } = await vendor.doStream({ ...options, abortSignal: controller.signal })
    for await (const part of stream) {
      // It comes with the headers, before the provider has said anything.
      if (part.type === 'stream-start') continue
      clearTimeout(timer)
      if (part.type === 'finish') finished = true
      yield part
      timer = expect(finished ? CLOSING_MS : MODEL_IDLE_TIMEOUT_MS, 'was silent for')
    }
    over = true
  } catch (error) {
    if (signal.aborted || !finished)
      throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    if (!over) controller.abort()
  }
}
