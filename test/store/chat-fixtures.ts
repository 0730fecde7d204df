import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Kysely } from 'kysely'
import { emptyReceipt } from '../../src/domain/receipt.ts'
import { createChatStore } from '../../src/store/chat-store.ts'
import type { ChatStore, Step, TurnState } from '../../src/store/chats.ts'
import { toSeq } from '../../src/store/ids.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Open } from './databases.ts'

interface Message {
  role: string
  text: string
}
interface Settings {
  model: string
}

export const settings = { model: 'offline' }
export const begin = { after: null, settings, messages: [{ role: 'user', text: 'Hello' }] }

export const state = (status: TurnState['status'], more: Partial<TurnState> = {}): TurnState => ({
  status,
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
  ...more,
})

export const step = (number: number, more: Partial<Step> = {}): Step => ({
  step: number,
  revision: 7,
  system: 'You are helpful.',
  tools: '[{"name":"load_skill"}]',
  offered: '[]',
  tokens: { catalog: 0, bodies: 0, inlined: 0 },
  ...more,
})

export const call = (callId: string, kind: 'tool' | 'client' | 'approval' = 'tool') => ({
  callId,
  name: `name of ${callId}`,
  kind,
  result: null,
})

export const says = (text: string): Message => ({ role: 'assistant', text })

export interface Compaction {
  upTo: number
}
type Chats = ChatStore<Message, string, Settings, Compaction>

export async function openChats(t: TestContext, open: Open) {
  const db = await open(t)
  const chats: Chats = createChatStore<Message, string, Settings, Compaction>(db)
  databases.set(chats, db)
  return { db, chats }
}

const databases = new WeakMap<Chats, Kysely<Tables>>()

/** A conversation that no turn has begun in yet. */
export async function create(chats: Chats, owner: string | null = null): Promise<string> {
  const { conversation, turn } = await chats.begin(
    { agent: 'default', owner, settings },
    { messages: [], state: state('running') },
  )
  const db = databases.get(chats)
  await db?.deleteFrom('turns').where('seq', '=', toSeq('turn', turn.id)).execute()
  return conversation.id
}

export async function beginTurn(chats: Chats, id: string, after: string | null = null) {
  const turn = await chats.beginTurn(id, { ...begin, after, state: state('running') })
  assert.ok(turn)
  return turn
}
