import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import { breathe } from '../breathe.ts'
import type { Tables } from './tables.ts'

export type Work<Result> = (trx: Transaction<Tables>) => Promise<Result>

/** Does its work, and gives back what tells the caller how that went. */
interface Writer {
  write(trx: Transaction<Tables>): Promise<() => void>
  reject(error: unknown): void
}

/** So that nobody waits for long behind the others. */
const MAX_TOGETHER = 64
const BEGIN = CompiledQuery.raw('savepoint one')
const TAKE_BACK = CompiledQuery.raw('rollback to one')
const END = CompiledQuery.raw('release one')

/**
 * Transactions of a database that has one connection: those that ask for it at about the same time
 * are committed together, for a commit waits for the disk. Each is done wholly or not at all, for
 * itself, and nobody is told of anything before it is committed.
 */
export function sharedCommit(db: Kysely<Tables>) {
  let writers: Writer[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    writing = true
    try {
      while (writers.length > 0) {
        await breathe()
        const together = writers.slice(0, MAX_TOGETHER)
        writers = writers.slice(MAX_TOGETHER)
        await commit(db, together)
      }
    } finally {
      writing = false
    }
  }

  return {
    /** How many wait for those before them. */
    waiting: () => writers.length,

    commit: <Result>(work: Work<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        const write = async (trx: Transaction<Tables>) => {
          const result = await work(trx)
          return () => resolve(result)
        }
        writers.push({ write, reject })
        if (!writing) void writeAll()
      }),
  }
}

async function commit(db: Kysely<Tables>, writers: readonly Writer[]): Promise<void> {
  const [first, ...others] = writers
  if (!first) return
  if (others.length === 0) return commitAlone(db, first)
  const tell = await db
    .transaction()
    .execute(async (trx) => {
      const told: (() => void)[] = []
      for (const writer of writers) told.push(await writeApart(trx, writer))
      return told
    })
    // One of them may have cost all of them their transaction, as a full disk does.
    .catch(() => undefined)
  if (tell) for (const one of tell) one()
  else for (const writer of writers) await commitAlone(db, writer)
}

async function commitAlone(db: Kysely<Tables>, { write, reject }: Writer): Promise<void> {
  try {
    const tell = await db.transaction().execute(write)
    tell()
  } catch (error) {
    reject(error)
  }
}

/** What one of them did is taken back when it fails, and only that. */
async function writeApart(
  trx: Transaction<Tables>,
  { write, reject }: Writer,
): Promise<() => void> {
  await trx.executeQuery(BEGIN)
  try {
    const tell = await write(trx)
    await trx.executeQuery(END)
    return tell
  } catch (error) {
    await trx.executeQuery(TAKE_BACK)
    await trx.executeQuery(END)
    return () => reject(error)
  }
}
