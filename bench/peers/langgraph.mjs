import { ChatAnthropic } from '@langchain/anthropic'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'
import { LOAD_SKILL, loadSkill, MESSAGE, SYSTEM } from './scene.mjs'

let agent

export async function turn(url) {
  agent ??= createReactAgent({ llm: chatModel(url), tools: [skillTool], prompt: SYSTEM })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: MESSAGE }] })
  return messages.at(-1).text
}

export const chatModel = (url) =>
  new ChatAnthropic({
    model: 'test',
    anthropicApiKey: 'key',
    anthropicApiUrl: url,
    maxTokens: 1000,
    streaming: true,
  })

export const skillTool = tool(async ({ name }) => loadSkill(name), {
  name: LOAD_SKILL.name,
  description: LOAD_SKILL.description,
  schema: z.object({ name: z.string().describe(LOAD_SKILL.parameter) }),
})
