import { randomUUID } from 'node:crypto'
import type { AssistantMessage, Message, Model, ModelRequest, Reply } from '../model.ts'
import { type Candidate, matchSkill, mentions, readCatalog } from './match-skill.ts'

const ADVICE = 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY to have a real model answer.'
const DELTA = /[\s\S]{1,24}/gu
const CHARACTERS_PER_TOKEN = 4

/** A model without a network: loads the skill that the request is about, and says that it did. */
export const offline: Model = async function* (request) {
  const { signal } = request
  signal.throwIfAborted()
  const mayLoad = request.tools.some(({ name }) => name === 'load_skill')
  const catalog = mayLoad ? readCatalog(request.system) : []
  const said = saidBy(request.messages.findLast(({ role }) => role === 'user'))
  const asksForList =
    catalog.length > 0 && asksWhichSkills(said) && !catalog.some(({ name }) => mentions(said, name))
  const skill = asksForList ? undefined : matchSkill(said, catalog)

  if (skill && !isSettled(skill.name, request.messages))
    return toReply(request, callFor(skill.name))
  const text = `I am the offline model. ${answerFor(request, catalog, skill, asksForList)} ${ADVICE}`
  for (const [piece] of text.matchAll(DELTA)) {
    yield { type: 'text.delta', text: piece }
    signal.throwIfAborted()
  }
  return toReply(request, { type: 'text', text })
}

/** Whether the skill is there already, or was asked for in vain. */
function isSettled(name: string, messages: readonly Message[]): boolean {
  const tried = turnOf(messages).some(
    ({ role, content }) =>
      role === 'assistant' &&
      content.some(
        (part) =>
          part.type === 'tool-call' &&
          part.toolName === 'load_skill' &&
          JSON.stringify(part.input) === JSON.stringify({ name }),
      ),
  )
  return tried || loadedSkill(messages, name) !== undefined
}

const callFor = (name: string): AssistantMessage['content'][number] => ({
  type: 'tool-call',
  toolCallId: `call_${randomUUID()}`,
  toolName: 'load_skill',
  input: { name },
})

function answerFor(
  { messages }: ModelRequest,
  catalog: readonly Candidate[],
  skill: Candidate | undefined,
  asksForList: boolean,
): string {
  if (asksForList) return `The skills are ${catalog.map(({ name }) => name).join(', ')}.`
  const loaded = skill ? loadedSkill(messages, skill.name) : loadedSkill(turnOf(messages))
  if (loaded) {
    const { name, version, firstLine } = loaded
    return `I loaded the skill ${name} (version ${version}), which begins: "${firstLine}"`
  }
  if (skill) return `The skill ${skill.name} fits, but could not be loaded.`
  return catalog.length > 0
    ? 'No skill seems to fit what you asked.'
    : 'There are no skills on offer.'
}

/** The newest body in the messages, of that skill if one is named, as load_skill wraps it. */
function loadedSkill(messages: readonly Message[], wanted?: string) {
  const wrapped = /<skill(?:-\d+)? name="([^"]*)" version="([^"]*)">\s*([^\n]*)/g
  return messages
    .filter(({ role }) => role === 'tool' || role === 'user')
    .flatMap((message) => [...textOf(message).matchAll(wrapped)])
    .map(([, name = '', version = '', firstLine = '']) => ({ name, version, firstLine }))
    .findLast(({ name }) => wanted === undefined || name === wanted)
}

const turnOf = (messages: readonly Message[]) =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user'))

/** What the user wrote, without the bodies that were put before it. */
function saidBy(message: Message | undefined): string {
  if (message?.role !== 'user') return ''
  const own = message.content.filter(({ providerOptions }) => !providerOptions?.loadskill)
  return textOf({ ...message, content: own })
}

function textOf(message: Message): string {
  if (message.role === 'system') return message.content
  const texts = message.content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type !== 'tool-result') return ''
    const { output } = part
    return output.type === 'text' || output.type === 'error-text' ? output.value : ''
  })
  return texts.join('\n')
}

const LIST_REQUESTS = [
  /\b(what|which|list|show|any)\b[^.?!]{0,40}\bskills\b/i,
  /\bskills\b[^.?!]{0,40}\b(available|are there|do you have)\b/i,
  /(什么|哪些|列出|所有|多少|どんな|何の).{0,10}(技能|スキル)/,
  /(技能|スキル).{0,10}(什么|哪些|列表|どんな|何が|一覧)/,
]

const asksWhichSkills = (said: string) => LIST_REQUESTS.some((request) => request.test(said))

function toReply(
  { system, messages, tools }: ModelRequest,
  part: AssistantMessage['content'][number],
): Reply {
  const tokensOf = (value: unknown) =>
    Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN)
  return {
    message: { role: 'assistant', content: [part] },
    usage: {
      inputTokens: tokensOf([system, messages, tools]),
      outputTokens: tokensOf(part),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    },
    cut: false,
  }
}
