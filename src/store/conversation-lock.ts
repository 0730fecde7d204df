import type { Transaction } from 'kysely'
import { AppError } from '../errors.ts'
import type { Place } from './chat-steps.ts'
import { toSeq } from './ids.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

/** Locks before it reads, so that the writes to one conversation come one after another. */
export async function lockConversation(
  trx: Transaction<Tables>,
  seq: number,
): Promise<{ owner: string | null } | undefined> {
  return trx
    .updateTable('conversations')
    .set(({ ref }) => ({ updated_at: ref('updated_at') }))
    .where('seq', '=', seq)
    .returning('owner')
    .executeTakeFirst()
}

interface Touching {
  turn: number
  at: string
}

const touchConversation = prepared<Touching, { seq: number; owner: string | null }>(
  (db, parameter) =>
    db
      .updateTable('conversations')
      .set({ updated_at: parameter('at') })
      .where('seq', '=', ({ selectFrom }) =>
        selectFrom('turns').select('turns.conversation').where('turns.seq', '=', parameter('turn')),
      )
      .returning(['seq', 'owner']),
)

/** Locks the conversation of a turn. A turn may vanish while it runs, with its conversation. */
export async function touch(trx: Transaction<Tables>, turnId: string): Promise<Place> {
  const turn = toSeq('turn', turnId)
  const { rows } = await touchConversation(trx, { turn, at: now() })
  const [row] = rows
  if (!row) throw new AppError('turn_not_found', `There is no turn ${turnId}.`)
  return { conversation: row.seq, owner: row.owner, turn }
}
