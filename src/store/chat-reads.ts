import type { Kysely } from 'kysely'
import { AppError } from '../errors.ts'
import { toCall, toConversation, toTurn } from './chat-rows.ts'
import type { ChatStore, Usage } from './chats.ts'
import { chunks } from './chunks.ts'
import { type IdPrefix, toId, toSeq } from './ids.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'
import { comparable } from './transaction.ts'

type Reads<Message, Result, Settings, Compaction> = Pick<
  ChatStore<Message, Result, Settings, Compaction>,
  | 'find'
  | 'list'
  | 'messages'
  | 'lastCalls'
  | 'findCall'
  | 'findWaiting'
  | 'compaction'
  | 'spent'
  | 'turns'
  | 'findTurn'
  | 'lastTurn'
  | 'usage'
  | 'steps'
>

const selectCompaction = prepared<{ conversation: number }, { compaction: string | null }>(
  (db, parameter) =>
    db
      .selectFrom('conversations')
      .select('compaction')
      .where('seq', '=', parameter('conversation')),
)

export function chatReads<Message, Result, Settings, Compaction>(
  db: Kysely<Tables>,
): Reads<Message, Result, Settings, Compaction> {
  const turnsOf = (id: string) =>
    db.selectFrom('turns').selectAll().where('conversation', '=', toSeq('conv', id))
  const callsOf = (id: string) =>
    db.selectFrom('tool_calls').where('tool_calls.conversation', '=', toSeq('conv', id))

  return {
    async find(id, owner) {
      const row = await conversationsOf(db, owner)
        .where('seq', '=', toSeq('conv', id))
        .executeTakeFirst()
      return row && toConversation(row)
    },

    async list(owner, { before, limit }) {
      let query = conversationsOf(db, owner)
      if (before !== undefined) query = query.where('seq', '<', cursorSeq('conv', before))
      const rows = await query.orderBy('seq', 'desc').limit(limit).execute()
      return rows.map((row) => toConversation<Settings>(row))
    },

    async messages(id) {
      const rows = await db
        .selectFrom('messages')
        .select(['turn', 'message'])
        .where('conversation', '=', toSeq('conv', id))
        .orderBy('seq')
        .execute()
      return rows.map(({ turn, message }) => ({
        turnId: toId('turn', turn),
        message: JSON.parse(message),
      }))
    },

    async lastCalls(id) {
      const last = callsOf(id)
        .select(['tool_calls.turn', 'tool_calls.step'])
        .orderBy('seq', 'desc')
        .limit(1)
      const rows = await callsOf(id)
        .innerJoin(last.as('last'), (join) =>
          join
            .onRef('last.turn', '=', 'tool_calls.turn')
            .onRef('last.step', '=', 'tool_calls.step'),
        )
        .select(CALL_COLUMNS)
        .orderBy('seq')
        .execute()
      return rows.map((row) => toCall<Result>(row))
    },

    async findCall(id, callId) {
      const row = await callsOf(id)
        .selectAll()
        .where('call_id', '=', comparable(callId))
        .executeTakeFirst()
      return row && { ...toCall<Result>(row), output: row.output && JSON.parse(row.output) }
    },

    async findWaiting(callIds, owner) {
      for (const ids of chunks(callIds)) {
        const row = await db
          .selectFrom('tool_calls')
          .innerJoin('conversations', 'conversations.seq', 'tool_calls.conversation')
          .select('tool_calls.conversation')
          .where('tool_calls.call_id', 'in', ids.map(comparable))
          .where('tool_calls.kind', '=', 'client')
          .where('tool_calls.result', 'is', null)
          .where('conversations.owner', owner === null ? 'is' : '=', owner)
          .orderBy('tool_calls.seq', 'desc')
          .limit(1)
          .executeTakeFirst()
        if (row) return toId('conv', row.conversation)
      }
      return undefined
    },

    async compaction(id) {
      const [row] = (await selectCompaction(db, { conversation: toSeq('conv', id) })).rows
      return row?.compaction == null ? undefined : JSON.parse(row.compaction)
    },

    async spent(owner, day) {
      const row = await db
        .selectFrom('token_spending')
        .select('tokens')
        .where('owner', '=', owner)
        .where('day', '=', day)
        .executeTakeFirst()
      return row?.tokens ?? 0
    },

    async turns(id, { after, limit }) {
      let query = turnsOf(id)
      if (after !== undefined) query = query.where('seq', '>', cursorSeq('turn', after))
      const rows = await query.orderBy('seq').limit(limit).execute()
      return rows.map(toTurn)
    },

    async findTurn(id, turnId) {
      const row = await turnsOf(id).where('seq', '=', toSeq('turn', turnId)).executeTakeFirst()
      return row && toTurn(row)
    },

    async lastTurn(id) {
      const row = await turnsOf(id).orderBy('seq', 'desc').limit(1).executeTakeFirst()
      return row && toTurn(row)
    },

    async usage(id) {
      const rows = await db
        .selectFrom('turns')
        .select('usage')
        .where('conversation', '=', toSeq('conv', id))
        .execute()
      const usages = rows.map(({ usage }): Usage => JSON.parse(usage))
      const sum = (part: keyof Usage) => usages.reduce((total, usage) => total + usage[part], 0)
      return {
        modelCalls: sum('modelCalls'),
        inputTokens: sum('inputTokens'),
        outputTokens: sum('outputTokens'),
        cacheReadTokens: sum('cacheReadTokens'),
        cacheWriteTokens: sum('cacheWriteTokens'),
      }
    },

    async steps(turnId) {
      const rows = await db
        .selectFrom('turn_steps')
        .innerJoin('texts as systems', 'systems.sha256', 'turn_steps.system')
        .innerJoin('texts as tool_lists', 'tool_lists.sha256', 'turn_steps.tools')
        .innerJoin('texts as offers', 'offers.sha256', 'turn_steps.offered')
        .select(['step', 'revision', 'systems.text as system'])
        .select(['catalog_tokens', 'body_tokens', 'inlined_tokens'])
        .select(['tool_lists.text as tools', 'offers.text as offered'])
        .where('turn', '=', toSeq('turn', turnId))
        .orderBy('step')
        .execute()
      return rows.map(({ step, revision, system, tools, offered, ...row }) => ({
        step,
        revision,
        tokens: {
          catalog: row.catalog_tokens,
          bodies: row.body_tokens,
          inlined: row.inlined_tokens,
        },
        system: JSON.parse(system),
        tools: JSON.parse(tools),
        offered: JSON.parse(offered),
      }))
    },
  }
}

/** All but the whole outputs, which may be long. */
const CALL_COLUMNS = [
  'tool_calls.call_id',
  'tool_calls.turn',
  'tool_calls.step',
  'tool_calls.name',
  'tool_calls.kind',
  'tool_calls.result',
] as const

function conversationsOf(db: Kysely<Tables>, owner: string | null | undefined) {
  const all = db.selectFrom('conversations').selectAll()
  if (owner === undefined) return all
  return all.where('owner', owner === null ? 'is' : '=', owner)
}

function cursorSeq(prefix: IdPrefix, id: string): number {
  const seq = toSeq(prefix, id)
  if (seq === 0) throw new AppError('cursor_invalid', 'The cursor is not valid.')
  return seq
}
