import { Kysely } from 'kysely'
import { migrate } from './migrate.ts'
import { postgresDialect } from './open-postgres.ts'
import { openSqlite } from './open-sqlite.ts'
import { answersAtOnce } from './prepared.ts'
import type { Tables } from './tables.ts'

/**
 * Opens `postgres://…` or `sqlite:PATH`, migrated to the latest schema. The caller destroys it.
 * Rejects with one line that names the file or the database; what is no database of ours, damaged,
 * read-only or newer stays as it was.
 */
export async function openDatabase(url: string): Promise<Kysely<Tables>> {
  const postgres = /^postgres(ql)?:/.test(url)
  const path = url.replace(/^sqlite:/, '')
  try {
    const sqlite = postgres ? undefined : await openSqlite(path)
    const db = new Kysely<Tables>({ dialect: sqlite?.dialect ?? postgresDialect(url) })
    if (sqlite) answersAtOnce(db, sqlite.run)
    try {
      await migrate(db, postgres ? 'postgres' : 'sqlite')
      return db
    } catch (error) {
      await db.destroy()
      throw error
    }
  } catch (error) {
    const place = postgres ? withoutSecrets(url) : path
    throw new Error(`The database ${place} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return 'of DATABASE_URL'
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}

function reasonOf(error: unknown): string {
  // A host with two addresses fails twice, in an error that says nothing itself.
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message.replaceAll(/\s*\n\s*/g, ' ') : String(error)
}
