import { createAnthropic } from '@ai-sdk/anthropic'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { LOAD_SKILL, loadSkill, MESSAGE, SYSTEM } from './scene.mjs'

let model

export async function turn(url) {
  model ??= createAnthropic({ baseURL: `${url}/v1`, apiKey: 'key' })('test')
  const { textStream, text } = streamText({
    model,
    system: SYSTEM,
    prompt: MESSAGE,
    maxOutputTokens: 1000,
    stopWhen: stepCountIs(5),
    tools: {
      load_skill: tool({
        description: LOAD_SKILL.description,
        inputSchema: z.object({ name: z.string().describe(LOAD_SKILL.parameter) }),
        execute: async ({ name }) => loadSkill(name),
      }),
    },
  })
  for await (const _part of textStream);
  return text
}
