import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { AppError } from '../../errors.ts'
import type { AssistantMessage, Reply } from '../model.ts'
import { tooLarge } from './failure.ts'
import { toToolCall } from './tool-call.ts'

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>

interface Block {
  type: 'text' | 'reasoning'
  text: string
  providerOptions?: SharedV4ProviderMetadata
}

interface BlockPart {
  id: string
  providerMetadata?: SharedV4ProviderMetadata
}

/** A streamed answer, put together. Reasoning is kept: providers want it back, signed, next time. */
export class Answer {
  readonly #maxBytes: number
  readonly #content: AssistantMessage['content'] = []
  readonly #blocks = new Map<string, Block>()
  readonly #callIds = new Set<string>()
  #bytes = 0
  #finish: Finish | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the text that the part adds to what the caller reads. */
  add(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case 'text-start':
        this.#open({ type: 'text', text: '' }, part)
        return ''
      case 'reasoning-start':
        this.#open({ type: 'reasoning', text: '' }, part)
        return ''
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        return this.#extend(part)
      case 'tool-input-delta':
        this.#weigh(part.delta)
        return ''
      case 'tool-call':
        this.#content.push(toToolCall(part, this.#uniqueId(part.toolCallId)))
        return ''
      case 'error':
        throw part.error
      case 'finish':
        this.#finish ??= part
        return ''
      default:
        return ''
    }
  }

  reply(): Reply {
    if (!this.#finish) throw new Error('The stream ended without a finish.')
    const { finishReason, usage } = this.#finish
    const reason = finishReason.unified
    if (reason === 'interrupted' || reason === 'error') throw new Error(`It ended as ${reason}.`)

    const content = this.#content.filter(({ type, ...part }) => type !== 'text' || !isBlank(part))
    if (content.every(({ type }) => type === 'reasoning')) throw saidNothing(reason)
    return {
      message: { role: 'assistant', content },
      usage: {
        inputTokens: usage.inputTokens.total ?? 0,
        outputTokens: usage.outputTokens.total ?? 0,
        cacheReadTokens: usage.inputTokens.cacheRead ?? 0,
        cacheWriteTokens: usage.inputTokens.cacheWrite ?? 0,
      },
      cut: reason === 'length',
    }
  }

  #open(block: Block, part: BlockPart) {
    this.#blocks.set(part.id, block)
    this.#content.push(block)
    sign(block, part.providerMetadata)
  }

  #extend(part: BlockPart & { delta?: string }): string {
    const block = this.#blocks.get(part.id)
    if (!block) return ''
    sign(block, part.providerMetadata)
    const text = part.delta ?? ''
    this.#weigh(text)
    block.text += text
    return block.type === 'text' ? text : ''
  }

  #weigh(delta: string) {
    this.#bytes += Buffer.byteLength(delta)
    if (this.#bytes > this.#maxBytes) throw tooLarge(this.#maxBytes)
  }

  #uniqueId(wanted: string): string {
    let id = wanted
    for (let suffix = 2; id === '' || this.#callIds.has(id); suffix++) id = `${wanted}_${suffix}`
    this.#callIds.add(id)
    return id
  }
}

function sign(block: Block, metadata: SharedV4ProviderMetadata | undefined) {
  if (metadata) block.providerOptions = { ...block.providerOptions, ...metadata }
}

const isBlank = (part: object) => 'text' in part && String(part.text).trim() === ''

/** Only an answer that might come out otherwise next time is an error of the kind that is retried. */
function saidNothing(reason: Finish['finishReason']['unified']): Error {
  if (reason === 'length')
    return new AppError('model_error', 'The model met its limit on output before it said anything.')
  if (reason === 'content-filter')
    return new AppError('model_error', 'The model declined to answer.')
  return new Error('The answer is empty.')
}
