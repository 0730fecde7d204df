import { breathe } from '../breathe.ts'
import { nearestNames } from '../domain/nearest-names.ts'
import { emptyReceipt } from '../domain/receipt.ts'
import { AppError } from '../errors.ts'
import type { Conversation, Turn, TurnRecording } from '../store/chats.ts'
import type { DefinitionStore } from '../store/definitions.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import type { Agent } from './agent.ts'
import type { Chats } from './chats.ts'
import { checkCallersTools } from './check-callers-tools.ts'
import { type Continuation, continueTurn } from './continue-turn.ts'
import { toUse } from './loads.ts'
import type { Message, Models } from './model.ts'
import { inProgress, type OpenTurn, stateOf } from './opened-turn.ts'
import { type PreloadParts, withPreload } from './preload.ts'
import { failureOf, saveEnd } from './save-end.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import { settleCalls } from './settle-calls.ts'
import { type Defaults, type Setup, setUp } from './setup.ts'
import { NO_STEP, type ToolSource } from './tool.ts'

/** What a caller asks for: something new to say, or that the turn before goes on. */
export interface TurnRequest extends Continuation {
  conversationId: string | null
  /** Null is the conversation's own, or `default`. */
  agent: string | null
  /** The id of the API key; null when there is none. */
  owner: string | null
  /** What the model calls of the key may cost in a day; null is no limit. */
  dayBudget: number | null
  /** Whether conversations of other keys exist for it. */
  seesAll: boolean
  /** Only what the request states: the rest stays as the conversation has it. */
  settings: Partial<Settings>
  /** User and assistant messages in turn, the last of the user; empty when the turn before goes on. */
  messages: Message[]
  /** Names of skills to put before the first message, as loads. */
  preload: string[]
  /** False where nobody can approve a call: those that need it are refused. */
  approvable?: boolean
  /** Stored together with the beginning of the turn. */
  recording: TurnRecording | undefined
}

type Agents = Pick<DefinitionStore<Agent>, 'find' | 'all'>

export interface OpenParts extends PreloadParts {
  chats: Chats
  agents: Agents
  models: Models
  defaults: Defaults
  tools: ToolSource
}

/** Takes the conversation, or begins one. Every refusal comes before anything is stored. */
export async function openTurn(parts: OpenParts, request: TurnRequest): Promise<OpenTurn> {
  await breathe()
  const { chats } = parts
  const found = await findConversation(chats, request)
  const settings = { ...DEFAULT_SETTINGS, ...found?.settings, ...request.settings }
  const name = found?.agent ?? request.agent ?? 'default'
  if (request.agent !== null && request.agent !== name) {
    const what = `The conversation is the agent "${name}"'s: leave "agent" out, or begin another one.`
    throw new AppError('body_invalid', what)
  }
  const agent = await findAgent(parts.agents, name)
  const { approvable = true } = request
  const setup = { ...setUp(agent, settings, parts.defaults), approvable }
  parts.models.open(setup.model)
  const { tools: brought = [] } = request.settings
  if (brought.length > 0) checkCallersTools(brought, await ourNames(parts, setup))

  const shared = { setup, dayBudget: request.dayBudget }
  if (request.messages.length === 0) {
    const continued = await continueTurn(chats, found, settings, request)
    return { ...shared, ...continued, preloaded: [] }
  }
  const { messages, loads } = await withPreload(
    parts,
    { ...request, among: agent.skills },
    found?.id,
  )
  const uses = loads.map((load) => toUse(load, 0))
  const { owner, recording } = request
  const opened = { ...shared, preloaded: loads, unanswered: [], waiting: new Map() }
  if (!found) {
    const beginning = { state: NOT_BEGUN, messages, uses, recording }
    const begun = await chats.begin({ agent: name, owner, settings }, beginning)
    return { ...opened, ...begun, messages: [...messages], added: [] }
  }
  const { turn, last } = await begin(chats, found, { settings, messages, uses, recording })
  try {
    if (last) {
      await settleCalls(chats, found.id, last)
      await chats.saveMessages(turn.id, messages, uses)
    }
    return { ...opened, ...(await stateOf(chats, { ...found, settings }, turn)) }
  } catch (error) {
    await saveEnd(chats, turn.id, { ...turn, ...failureOf(error) })
    throw error
  }
}

async function findAgent(agents: Agents, name: string): Promise<Agent> {
  const found = await agents.find(name)
  if (found) return found.definition
  const suggestions = nearestNames(
    name,
    (await agents.all()).map((agent) => agent.name),
  )
  const what = `There is no agent "${name.slice(0, 64)}".`
  throw new AppError('agent_not_found', what, { members: { suggestions } })
}

/** Those that the agent has: no tool of a caller may be called the same. */
async function ourNames({ tools }: OpenParts, { hasTool }: Setup): Promise<string[]> {
  const ours = await tools.tools(NO_STEP)
  return ours.map(({ name }) => name).filter(hasTool)
}

async function findConversation(chats: Chats, { conversationId, owner, seesAll }: TurnRequest) {
  if (conversationId === null) return undefined
  const found = await chats.find(conversationId, seesAll ? undefined : owner)
  if (found) return found
  throw new AppError(
    'conversation_not_found',
    `There is no conversation "${conversationId.slice(0, 64)}".`,
  )
}

const NOT_BEGUN = {
  stopReason: null,
  steps: 0,
  usage: {
    modelCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  },
  receipt: emptyReceipt(),
  error: null,
}

interface Beginning {
  settings: Settings
  messages: Message[]
  uses: SkillUse[]
  recording: TurnRecording | undefined
}

/** `last` is the turn before, when its calls have to be settled, and only then may the messages follow. */
async function begin(
  chats: Chats,
  { id }: Conversation<Settings>,
  { messages, uses, ...beginning }: Beginning,
): Promise<{ turn: Turn; last: Turn | undefined }> {
  const last = await chats.lastTurn(id)
  // A turn that did not end well may have left calls open: they are settled once we have the floor.
  const settle = last !== undefined && last.status !== 'completed'
  const turn = await chats.beginTurn(id, {
    ...beginning,
    after: last?.id ?? null,
    messages: settle ? [] : messages,
    uses: settle ? [] : uses,
    state: NOT_BEGUN,
  })
  if (!turn) throw inProgress(id)
  return { turn, last: settle ? last : undefined }
}
