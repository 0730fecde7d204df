import type { Transaction } from 'kysely'
import { toTurn, turnColumns } from './chat-rows.ts'
import { insertMessages, insertUses, type Place } from './chat-steps.ts'
import type { Turn, TurnBeginning } from './chats.ts'
import { recordTurn } from './idempotency-store.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

/** Undefined when a turn of the conversation is running. */
export async function insertTurn<Message>(
  trx: Transaction<Tables>,
  { conversation, owner }: Omit<Place, 'turn'>,
  { messages, state, uses = [], recording }: TurnBeginning<Message>,
): Promise<Turn | undefined> {
  const at = now()
  const columns = turnColumns({ ...state, status: 'running' })
  const row = await trx
    .insertInto('turns')
    .values({ conversation, ...columns, created_at: at, updated_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) return undefined
  const place = { conversation, owner, turn: row.seq }
  if (recording) await recordTurn(trx, recording, place)
  await insertMessages(trx, place, messages)
  await insertUses(trx, place, uses)
  return toTurn(row)
}
