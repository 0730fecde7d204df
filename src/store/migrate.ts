import { readdir, readFile } from 'node:fs/promises'
import { type Kysely, sql } from 'kysely'
import { indexAll } from './search-index.ts'
import type { Tables } from './tables.ts'

export type Dialect = 'sqlite' | 'postgres'

const SEARCH = '0005-search.sql'
const ADVISORY_LOCK = 7_104_529

const folderOf = (dialect: Dialect) => new URL(`../../migrations/${dialect}/`, import.meta.url)

const known = async (dialect: Dialect): Promise<string[]> =>
  (await readdir(folderOf(dialect))).filter((name) => name.endsWith('.sql')).sort()

/** Applies what is not yet applied, in name order: the new schema comes whole or not at all. */
export async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (dialect === 'postgres') {
      // Of two processes that start together, one waits here and then finds the work done.
      await sql`set local lock_timeout = 0`.execute(trx)
      await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(trx)
    }
    await sql`create table if not exists migrations (name text primary key)`.execute(trx)
    const rows = await trx.selectFrom('migrations').select('name').execute()
    const applied = rows.map(({ name }) => name)
    await refuseNewer(applied, dialect)

    const pending = (await known(dialect)).filter((name) => !applied.includes(name))
    for (const name of pending) {
      const script = await readFile(new URL(name, folderOf(dialect)), 'utf8')
      for (const statement of statementsOf(script)) await sql.raw(statement).execute(trx)
      await trx.insertInto('migrations').values({ name }).execute()
    }
    // Text is split into terms here, not in SQL: skills that were stored before it are indexed now.
    if (pending.includes(SEARCH)) await indexAll(trx)
  })
}

/** Older code would not know what newer tables mean. */
export async function refuseNewer(applied: string[], dialect: Dialect): Promise<void> {
  const names = await known(dialect)
  const unknown = applied.find((name) => !names.includes(name))
  if (unknown) {
    throw new Error(`it is newer than this loadskill, which has no migration ${unknown}`)
  }
}

/** A statement ends with a semicolon before a blank line, so that a trigger may hold others. */
const statementsOf = (script: string): string[] => script.trim().split(/(?<=;)\n\s*\n/)
