import type { Selectable, Transaction } from 'kysely'
import { toTurn, turnColumns, turnParameters } from './chat-rows.ts'
import { insertMessages, insertUses, type Place } from './chat-steps.ts'
import type { TurnTable } from './chat-tables.ts'
import type { Turn, TurnBeginning } from './chats.ts'
import { recordTurn } from './idempotency-store.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

type NewTurn = ReturnType<typeof turnColumns> & { conversation: number; at: string }

const insertRunning = prepared<NewTurn, Selectable<TurnTable>>((db, parameter) =>
  db
    .insertInto('turns')
    .values({
      conversation: parameter('conversation'),
      ...turnParameters(parameter),
      created_at: parameter('at'),
      updated_at: parameter('at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll(),
)

/** Undefined when a turn of the conversation is running. */
export async function insertTurn<Message>(
  trx: Transaction<Tables>,
  { conversation, owner }: Omit<Place, 'turn'>,
  { messages, state, uses = [], recording }: TurnBeginning<Message>,
): Promise<Turn | undefined> {
  const at = now()
  const columns = turnColumns({ ...state, status: 'running' })
  const { rows } = await insertRunning(trx, { conversation, ...columns, at })
  const [row] = rows
  if (!row) return undefined
  const place = { conversation, owner, turn: row.seq }
  if (recording) await recordTurn(trx, recording, place)
  await insertMessages(trx, place, messages)
  await insertUses(trx, place, uses)
  return toTurn(row)
}
