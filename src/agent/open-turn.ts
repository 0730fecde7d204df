import { emptyReceipt, type Loaded } from '../domain/receipt.ts'
import { AppError } from '../errors.ts'
import type { Call, ChatStore, Conversation, Turn } from '../store/chats.ts'
import { toResult } from './answer-call.ts'
import { breathe } from './breathe.ts'
import { checkSettings } from './check-settings.ts'
import type { Message, Models, ToolResult } from './model.ts'
import { type PreloadParts, withPreload } from './preload.ts'
import { failureOf, saveEnd } from './save-end.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import { settleCalls, toolMessage } from './settle-calls.ts'
import { addedBy } from './turn-view.ts'

export type Chats = ChatStore<Message, ToolResult, Settings>

/** What a caller asks for: something new to say, or results for the calls that wait. */
export interface TurnRequest {
  conversationId: string | null
  agent: string
  /** The id of the API key; null when there is none. */
  owner: string | null
  /** Whether conversations of other keys exist for it. */
  seesAll: boolean
  /** Only what the request states: the rest stays as the conversation has it. */
  settings: Partial<Settings>
  /** User and assistant messages in turn, the last of the user; empty when results are given. */
  messages: Message[]
  /** Names of skills to put before the first message, as loads. */
  preload: string[]
  results: { callId: string; output: string; isError: boolean }[]
}

/** A turn that runs now, and nowhere else. */
export interface OpenTurn {
  conversation: Conversation<Settings>
  turn: Turn
  /** The whole conversation, as the model is shown it. */
  messages: Message[]
  /** Those of the messages that this turn has added already. */
  added: Message[]
  /** Skills that stand before the turn's message. */
  preloaded: Loaded[]
  /** The ids of calls that wait for the caller. */
  waiting: Set<string>
}

export interface OpenParts extends PreloadParts {
  chats: Chats
  models: Models
}

/** Takes the conversation, or begins one. Every refusal comes before anything is stored. */
export async function openTurn(parts: OpenParts, request: TurnRequest): Promise<OpenTurn> {
  await breathe()
  const found = await findConversation(parts.chats, request)
  const settings = { ...DEFAULT_SETTINGS, ...found?.settings, ...request.settings }
  checkSettings(settings, parts.models)

  if (request.results.length > 0) return resume(parts.chats, found, settings, request.results)
  const { messages, loads } = await withPreload(parts, request, found?.id)
  const conversation =
    found ?? (await parts.chats.create({ agent: request.agent, owner: request.owner, settings }))
  const { turn, last } = await begin(parts.chats, conversation, settings, messages)
  try {
    if (last) {
      await settleCalls(parts.chats, conversation.id, last)
      await parts.chats.saveMessages(turn.id, messages)
    }
    const state = await stateOf(parts.chats, { ...conversation, settings }, turn)
    return { ...state, preloaded: loads, waiting: new Set() }
  } catch (error) {
    await saveEnd(parts.chats, turn.id, { ...turn, ...failureOf(error) })
    throw error
  }
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

/** `last` is the turn before, when its calls have to be settled, and only then may the messages follow. */
async function begin(
  chats: Chats,
  { id }: Conversation<Settings>,
  settings: Settings,
  messages: Message[],
): Promise<{ turn: Turn; last: Turn | undefined }> {
  const last = await chats.lastTurn(id)
  const state = {
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
  // A turn that did not end well may have left calls open: they are settled once we have the floor.
  const settle = last !== undefined && last.status !== 'completed'
  const turn = await chats.beginTurn(id, {
    after: last?.id ?? null,
    settings,
    messages: settle ? [] : messages,
    state,
  })
  if (!turn) throw inProgress(id)
  return { turn, last: settle ? last : undefined }
}

async function resume(
  chats: Chats,
  conversation: Conversation<Settings> | undefined,
  settings: Settings,
  given: TurnRequest['results'],
): Promise<OpenTurn> {
  const last = conversation && (await chats.lastTurn(conversation.id))
  if (last?.status === 'running') throw inProgress(last.conversationId)
  if (!conversation || last?.status !== 'requires_action') throw notPending(given[0]?.callId)
  answersTo(await chats.lastCalls(conversation.id), given)
  const turn = await chats.resumeTurn(last.id, settings)
  if (!turn) throw inProgress(conversation.id)

  try {
    // Somebody else may have answered some of them in between.
    const calls = await chats.lastCalls(conversation.id)
    const { answers, waiting } = answersTo(calls, given)
    const message = waiting.size === 0 ? toolMessage(calls, answers) : undefined
    const status = waiting.size === 0 ? 'running' : 'requires_action'
    await chats.saveResults(turn.id, answers, message, { ...last, status })
    const state = await stateOf(chats, { ...conversation, settings }, turn)
    return { ...state, preloaded: [], waiting }
  } catch (error) {
    await saveEnd(chats, turn.id, last)
    throw error
  }
}

/** What is given, as results of the calls that wait, and the ids of those that then still do. */
function answersTo(calls: readonly Call<ToolResult>[], given: TurnRequest['results']) {
  const open = new Map(calls.flatMap((call) => (call.result ? [] : [[call.callId, call]])))
  const answers = given.map(({ callId, output, isError }) => {
    const call = open.get(callId)
    if (!call) throw notPending(callId)
    open.delete(callId)
    const result = toResult({ toolCallId: callId, toolName: call.name }, output, isError)
    return { callId, result }
  })
  return { answers, waiting: new Set(open.keys()) }
}

async function stateOf(chats: Chats, conversation: Conversation<Settings>, turn: Turn) {
  const stored = await chats.messages(conversation.id)
  return {
    conversation,
    turn,
    messages: stored.map(({ message }) => message),
    added: addedBy(turn.id, stored),
  }
}

const inProgress = (id: string) =>
  new AppError(
    'turn_in_progress',
    `A turn is running in the conversation "${id}": wait for it, or cancel it.`,
  )

const notPending = (callId = '') =>
  new AppError(
    'call_not_pending',
    `No call "${callId.slice(0, 64)}" waits for a result in this conversation.`,
  )
