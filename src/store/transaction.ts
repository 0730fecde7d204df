import type { Kysely } from 'kysely'
import { sharedCommit, type Work } from './shared-commit.ts'
import type { Tables } from './tables.ts'

/** PostgreSQL: could not serialize, deadlock, a row referred to was swept at the same moment. */
const WORTH_ANOTHER_TRY = ['40001', '40P01', '23503']
const TRIES = 4

const shared = new WeakMap<Kysely<Tables>, ReturnType<typeof sharedCommit>>()

/** One transaction, done again when another one got in its way. */
export async function inTransaction<Result>(
  db: Kysely<Tables>,
  work: Work<Result>,
): Promise<Result> {
  if (db.getExecutor().adapter.supportsMultipleConnections === false)
    return commitOf(db).commit(work)
  for (let tried = 1; ; tried++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (tried === TRIES || !WORTH_ANOTHER_TRY.includes(code)) throw error
    }
  }
}

/** How many transactions wait for their turn; 0 where each has a connection. */
export const waitingWrites = (db: Kysely<Tables>): number => shared.get(db)?.waiting() ?? 0

function commitOf(db: Kysely<Tables>): ReturnType<typeof sharedCommit> {
  const known = shared.get(db)
  if (known) return known
  const made = sharedCommit(db)
  shared.set(db, made)
  return made
}

/** Several reads of one moment. */
export const inSnapshot = <Result>(db: Kysely<Tables>, work: Work<Result>): Promise<Result> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)

export const now = (): string => new Date().toISOString()

/** For a comparison: PostgreSQL takes no NUL, and no text that is stored has one. */
export const comparable = (text: string): string => text.replaceAll('\0', '\ufffd')
