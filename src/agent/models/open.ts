import type { Config } from '../../config.ts'
import { AppError } from '../../errors.ts'
import type { Model, Models } from '../model.ts'
import { anthropicLanguageModels, withCacheMarks } from './anthropic.ts'
import { fromLanguageModel } from './language-model.ts'
import { offline } from './offline.ts'
import { inPlainWords, openAiLanguageModels } from './openai.ts'
import { openFetch } from './pool-fetch.ts'

const DEFAULT_ANTHROPIC = 'anthropic/claude-sonnet-5-5'
const DEFAULT_OPENAI = 'openai/gpt-5.4-mini'
const OPENAI_HOST = 'api.openai.com'
const MAX_CACHED = 100

/** The models that this service may ask. Throws when a setting is no address. */
export function openModels(config: Config): Models {
  const anthropicUrl = readBaseUrl(config, 'ANTHROPIC_BASE_URL')
  const openAiUrl = readBaseUrl(config, 'OPENAI_BASE_URL')
  const { fetch, close } = openFetch(config.MODEL_CONNECT_TIMEOUT_MS, config.MODEL_MAX_ANSWER_BYTES)
  const defaultName = config.MODEL ?? defaultFor(config)
  const opened = new Map<string, Model>()

  function openAnthropic(id: string): Model {
    const key = config.ANTHROPIC_API_KEY
    if (!key) throw invalid('Set ANTHROPIC_API_KEY to use models of Anthropic.')
    const vendor = anthropicLanguageModels(key, anthropicUrl, fetch)(id)
    return fromLanguageModel(vendor, config, withCacheMarks)
  }

  function openOpenAi(id: string): Model {
    const key = config.OPENAI_API_KEY
    if (!key && new URL(openAiUrl).host === OPENAI_HOST)
      throw invalid('Set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible server without a key.')
    const vendor = openAiLanguageModels(key, openAiUrl, fetch)(id)
    return fromLanguageModel(vendor, config, inPlainWords)
  }

  function create(name: string): Model {
    if (name === 'offline') return offline
    const [, provider, id] = /^(anthropic|openai)\/(\S{1,200})$/.exec(name) ?? []
    if (!provider || !id) throw invalid('A model is anthropic/ID, openai/ID or offline.')
    return provider === 'anthropic' ? openAnthropic(id) : openOpenAi(id)
  }

  return {
    defaultName,
    open(name) {
      const wanted = name ?? defaultName
      const model = opened.get(wanted) ?? create(wanted)
      if (opened.size >= MAX_CACHED) opened.clear()
      opened.set(wanted, model)
      return model
    },
    close,
  }
}

function defaultFor({ ANTHROPIC_API_KEY, OPENAI_API_KEY }: Config): string {
  if (ANTHROPIC_API_KEY) return DEFAULT_ANTHROPIC
  return OPENAI_API_KEY ? DEFAULT_OPENAI : 'offline'
}

function readBaseUrl(config: Config, setting: 'ANTHROPIC_BASE_URL' | 'OPENAI_BASE_URL'): string {
  const url = config[setting].replace(/\/+$/, '')
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error(`${setting} must be a URL`)
  return url
}

const invalid = (detail: string) => new AppError('model_invalid', detail)
