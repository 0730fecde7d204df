import type { TestContext } from 'node:test'
import type { Message, Model, ModelRequest, Models } from '../../src/agent/model.ts'
import { openModels } from '../../src/agent/models/open.ts'
import { readConfig } from '../../src/config.ts'

export const user = (text: string): Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
})

export const loadSkill = {
  name: 'load_skill',
  description: 'Load a skill.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

export const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: [user('Hi')],
  tools: [loadSkill],
  signal: new AbortController().signal,
  temperature: null,
  maxOutputTokens: 8192,
  ...changes,
})

/** Reads a whole answer: its deltas, and the reply. */
export async function ask(model: Model, what = request()) {
  const replies = model(what)
  const deltas: string[] = []
  for (;;) {
    const { done, value } = await replies.next()
    if (done) return { deltas, ...value }
    deltas.push(value.text)
  }
}

export function open(t: TestContext, env: Record<string, string>): Models {
  const models = openModels(readConfig(env))
  t.after(() => models.close())
  return models
}

export const anthropic = (t: TestContext, url: string, env: Record<string, string> = {}) =>
  open(t, {
    MODEL: 'anthropic/test',
    ANTHROPIC_API_KEY: 'key-4711',
    ANTHROPIC_BASE_URL: url,
    ...env,
  }).open(null)

export const openAi = (t: TestContext, url: string, env: Record<string, string> = {}) =>
  open(t, {
    MODEL: 'openai/test',
    OPENAI_API_KEY: 'key-4711',
    OPENAI_BASE_URL: `${url}/v1`,
    ...env,
  }).open(null)
