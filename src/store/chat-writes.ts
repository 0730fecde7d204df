import type { Kysely, Selectable, Transaction } from 'kysely'
import { AppError } from '../errors.ts'
import { insertTurn } from './begin-turn.ts'
import { answerCall, insertCalls, startCall } from './chat-calls.ts'
import { toConversation, toTurn, turnColumns, turnParameters } from './chat-rows.ts'
import {
  insertMessages,
  insertStep,
  insertUses,
  type Place,
  spend,
  sweepTexts,
  textsOf,
} from './chat-steps.ts'
import type { ConversationTable } from './chat-tables.ts'
import type { ChatStore, TurnState } from './chats.ts'
import { lockConversation, touch } from './conversation-lock.ts'
import { recordTurn } from './idempotency-store.ts'
import { toSeq } from './ids.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'
import { inTransaction, now } from './transaction.ts'

type Writes<Message, Result, Settings, Compaction> = Pick<
  ChatStore<Message, Result, Settings, Compaction>,
  | 'begin'
  | 'remove'
  | 'beginTurn'
  | 'resumeTurn'
  | 'saveStep'
  | 'saveResults'
  | 'saveMessages'
  | 'saveCompaction'
  | 'saveState'
  | 'interruptRunning'
>

export function chatWrites<Message, Result, Settings, Compaction>(
  db: Kysely<Tables>,
): Writes<Message, Result, Settings, Compaction> {
  return {
    begin: (conversation, begin) =>
      inTransaction(db, async (trx) => {
        const { agent, owner, settings } = conversation
        const at = now()
        const { rows } = await insertConversation(trx, {
          agent,
          owner,
          settings: JSON.stringify(settings),
          at,
        })
        const [row] = rows
        const turn = row && (await insertTurn(trx, { conversation: row.seq, owner }, begin))
        if (!turn) throw new Error('A conversation that was not there has a turn.')
        return { conversation: toConversation<Settings>(row), turn }
      }),

    remove: (id) =>
      inTransaction(db, async (trx) => {
        const seq = toSeq('conv', id)
        if (!(await lockConversation(trx, seq))) return false
        const candidates = await textsOf(trx, seq)
        await trx.deleteFrom('conversations').where('seq', '=', seq).execute()
        await sweepTexts(trx, candidates)
        return true
      }),

    beginTurn: (id, { after, settings, ...begin }) =>
      inTransaction(db, async (trx) => {
        const conversation = toSeq('conv', id)
        const locked = await lockConversation(trx, conversation)
        if (!locked) {
          throw new AppError('conversation_not_found', `There is no conversation ${id}.`)
        }
        const newest = await newestTurn(trx, conversation)
        if (newest !== (after === null ? undefined : toSeq('turn', after))) return undefined
        const turn = await insertTurn(trx, { conversation, owner: locked.owner }, begin)
        if (turn) await saveSettings(trx, conversation, settings)
        return turn
      }),

    resumeTurn: (turnId, settings, recording) =>
      inTransaction(db, async (trx) => {
        const turn = toSeq('turn', turnId)
        const conversation = await conversationOf(trx, turn)
        if (conversation === undefined || !(await lockConversation(trx, conversation))) {
          return undefined
        }
        if ((await newestTurn(trx, conversation)) !== turn) return undefined
        const row = await trx
          .updateTable('turns')
          .set({ status: 'running', stop_reason: null, error: null, updated_at: now() })
          .where('seq', '=', turn)
          .where('status', '<>', 'running')
          .returningAll()
          .executeTakeFirst()
        if (!row) return undefined
        if (recording) await recordTurn(trx, recording, { turn, conversation })
        await saveSettings(trx, conversation, settings)
        return toTurn(row)
      }),

    saveStep: (turnId, { step, messages, calls, uses = [], tokens }, state) =>
      inTransaction(db, async (trx) => {
        const place = await touch(trx, turnId)
        await updateTurn(trx, place, state)
        await insertStep(trx, place.turn, step)
        await insertMessages(trx, place, messages)
        await insertCalls(trx, { ...place, step: step.step }, calls)
        await insertUses(trx, place, uses)
        await spend(trx, place, tokens)
      }),

    saveResults: (turnId, results, message, state, { started = [], uses = [] } = {}) =>
      inTransaction(db, async (trx) => {
        const place = await touch(trx, turnId)
        await updateTurn(trx, place, state)
        for (const callId of started) await startCall(trx, place, callId)
        for (const answered of results) await answerCall(trx, place, answered)
        if (message !== undefined) await insertMessages(trx, place, [message])
        await insertUses(trx, place, uses)
      }),

    saveMessages: (turnId, messages, uses = []) =>
      inTransaction(db, async (trx) => {
        const place = await touch(trx, turnId)
        await insertMessages(trx, place, messages)
        await insertUses(trx, place, uses)
      }),

    saveCompaction: (turnId, { compaction, tokens }, state) =>
      inTransaction(db, async (trx) => {
        const place = await touch(trx, turnId)
        await updateTurn(trx, place, state)
        await spend(trx, place, tokens)
        await trx
          .updateTable('conversations')
          .set({ compaction: JSON.stringify(compaction) })
          .where('seq', '=', place.conversation)
          .execute()
      }),

    saveState: (turnId, state) =>
      inTransaction(db, async (trx) => updateTurn(trx, await touch(trx, turnId), state)),

    async interruptRunning() {
      const { numUpdatedRows } = await db
        .updateTable('turns')
        .set({ status: 'interrupted', updated_at: now() })
        .where('status', '=', 'running')
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    },
  }
}

type Beginning = Pick<ConversationTable, 'agent' | 'owner' | 'settings'> & { at: string }

const insertConversation = prepared<Beginning, Selectable<ConversationTable>>((db, parameter) =>
  db
    .insertInto('conversations')
    .values({
      agent: parameter('agent'),
      owner: parameter('owner'),
      settings: parameter('settings'),
      created_at: parameter('at'),
      updated_at: parameter('at'),
    })
    .returningAll(),
)

async function saveSettings<Settings>(
  trx: Transaction<Tables>,
  conversation: number,
  settings: Settings,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ settings: JSON.stringify(settings), updated_at: now() })
    .where('seq', '=', conversation)
    .execute()
}

async function conversationOf(trx: Transaction<Tables>, turn: number): Promise<number | undefined> {
  const row = await trx
    .selectFrom('turns')
    .select('conversation')
    .where('seq', '=', turn)
    .executeTakeFirst()
  return row?.conversation
}

async function newestTurn(
  trx: Transaction<Tables>,
  conversation: number,
): Promise<number | undefined> {
  const row = await trx
    .selectFrom('turns')
    .select('seq')
    .where('conversation', '=', conversation)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq
}

type TurnUpdate = ReturnType<typeof turnColumns> & { turn: number; at: string }

const setTurn = prepared<TurnUpdate, unknown>((db, parameter) =>
  db
    .updateTable('turns')
    .set({
      ...turnParameters(parameter),
      updated_at: parameter('at'),
    })
    .where('seq', '=', parameter('turn')),
)

async function updateTurn(
  trx: Transaction<Tables>,
  { turn }: Place,
  state: TurnState,
): Promise<void> {
  await setTurn(trx, { ...turnColumns(state), turn, at: now() })
}
