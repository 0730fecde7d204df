import { createDeepAgent } from 'deepagents'
import { chatModel, skillTool } from './langgraph.mjs'
import { MESSAGE, SYSTEM } from './scene.mjs'

let agent

export async function turn(url) {
  agent ??= createDeepAgent({ model: chatModel(url), tools: [skillTool], systemPrompt: SYSTEM })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: MESSAGE }] })
  return messages.at(-1).text
}
