import type { Kysely, Transaction } from 'kysely'
import { AppError } from '../errors.ts'
import type { TurnRecording } from './chats.ts'
import type { Answer, IdempotencyKey, IdempotencyStore, Recording } from './idempotency.ts'
import { toId } from './ids.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

export function createIdempotencyStore(db: Kysely<Tables>): IdempotencyStore {
  return tellingFaults<IdempotencyStore>({
    async find({ owner, key }) {
      const row = await db
        .selectFrom('idempotency')
        .select(['fingerprint', 'status', 'headers', 'body', 'turn'])
        .where('owner', '=', owner)
        .where('key', '=', key)
        .executeTakeFirst()
      if (!row) return undefined
      const { fingerprint, status, headers, body, turn } = row
      if (turn !== null) {
        const place = { id: toId('turn', turn), conversationId: body ?? '' }
        return { fingerprint, answer: null, turn: place }
      }
      return { fingerprint, answer: { status, headers: JSON.parse(headers), body }, turn: null }
    },

    async save(key, answer) {
      await insertAnswer(db, key, answer)
    },

    async finish({ owner, key }, { status, headers, body }) {
      await db
        .updateTable('idempotency')
        .set({ status, headers: JSON.stringify(headers), body, turn: null })
        .where('owner', '=', owner)
        .where('key', '=', key)
        .execute()
    },

    async sweep(before) {
      await db.deleteFrom('idempotency').where('created_at', '<', before).execute()
    },
  })
}

/** Stores the answer beside its effect. Throws when another request with this key came first. */
export async function record<Outcome>(
  trx: Transaction<Tables>,
  recording: Recording<Outcome>,
  outcome: Outcome,
): Promise<void> {
  const inserted = await insertAnswer(trx, recording, recording.answer(outcome))
  if (!inserted) throw inFlight()
}

/** Stores that a turn is the effect, beside the effect. Throws as `record` does. */
export async function recordTurn(
  trx: Transaction<Tables>,
  recording: TurnRecording,
  { turn, conversation }: { turn: number; conversation: number },
): Promise<void> {
  const unanswered = { status: 0, headers: {}, body: toId('conv', conversation) }
  const inserted = await insertAnswer(trx, recording, unanswered, turn)
  if (!inserted) throw inFlight()
}

/**
 * Throws when another request with this key came first. Without this the second of two would be
 * told of the effect of the first, as of a name that is taken.
 */
export async function refuseRecorded(
  trx: Transaction<Tables>,
  { owner, key }: IdempotencyKey,
): Promise<void> {
  const row = await trx
    .selectFrom('idempotency')
    .select('key')
    .where('owner', '=', owner)
    .where('key', '=', key)
    .executeTakeFirst()
  if (row) throw inFlight()
}

const inFlight = () =>
  new AppError(
    'idempotency_in_flight',
    'A request with this idempotency key is running or has just ended; try again.',
    { retryAfter: 1 },
  )

async function insertAnswer(
  db: Kysely<Tables>,
  { owner, key, fingerprint }: IdempotencyKey & { fingerprint: string },
  { status, headers, body }: Answer,
  turn: number | null = null,
): Promise<boolean> {
  const values = { owner, key, fingerprint, status, headers: JSON.stringify(headers), body, turn }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency')
    .values({ ...values, created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows !== 0n
}
