import type { Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * The current revision. Until the transaction ends no other one writes skills, so that the order
 * of the revisions is the order of the commits.
 */
export async function lockRegistry(trx: Transaction<Tables>): Promise<number> {
  const { revision } = await trx
    .updateTable('registry')
    .set(({ ref }) => ({ revision: ref('revision') }))
    .returning('revision')
    .executeTakeFirstOrThrow()
  return revision
}

/** The number of a new version: higher than any before it, whatever the clock says. */
export async function nextEpoch(trx: Transaction<Tables>): Promise<number> {
  const row = await trx.selectFrom('registry').select('epoch').executeTakeFirstOrThrow()
  const epoch = Math.max(Date.now() * 1000, row.epoch + 1)
  await trx.updateTable('registry').set({ epoch }).execute()
  return epoch
}

export async function raiseRevision(trx: Transaction<Tables>, revision: number): Promise<void> {
  await trx.updateTable('registry').set({ revision }).execute()
}
