import { constants } from 'node:fs'
import { access, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { type CompiledQuery, SqliteDialect } from 'kysely'
import { refuseNewer } from './migrate.ts'
import type { RunAtOnce } from './prepared.ts'

/** Blocks the event loop while it waits, so it is short. */
const BUSY_TIMEOUT_MS = 250
const FULL = 2
const MAGIC = 'SQLite format 3\0'

/** Opens the file, and makes it with its folder when it is not there. */
export async function openSqlite(
  path: string,
): Promise<{ dialect: SqliteDialect; run: RunAtOnce }> {
  if (path !== ':memory:') {
    await mkdir(dirname(path), { recursive: true })
    await refuseUnusable(path)
  }
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.pragma('journal_mode = WAL')
    database.pragma('foreign_keys = ON')
    // WAL means NORMAL here, from the first access on: set it after that, and trust what is read.
    database.prepare('select count(*) from sqlite_schema').get()
    database.pragma('synchronous = FULL')
    if (database.pragma('synchronous', { simple: true }) !== FULL) {
      throw new Error('it does not take synchronous = FULL')
    }
  } catch (error) {
    database.close()
    throw error
  }
  const prepare = preparing(database)
  const dialect = new SqliteDialect({
    database: {
      close: () => database.close(),
      // SQLite itself rolls back when the disk is full; an error of a second one would hide that.
      prepare: (sql) => prepare(sql === 'rollback' && !database.inTransaction ? 'select 1' : sql),
    },
  })

  function run<Row>({ sql, parameters }: CompiledQuery<Row>, within: boolean) {
    // Whoever is not part of the transaction that is open may not see what it has done so far.
    if (database.inTransaction !== within) return undefined
    const statement = prepare(sql)
    if (statement.reader) return { rows: statement.all(parameters) as Row[] }
    const { changes } = statement.run(parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }
  return { dialect, run }
}

/** More than there are queries; lists of any length make some more. */
const MAX_STATEMENTS = 300

/** To parse and plan a statement takes longer than most take to run: each is prepared once. */
function preparing(database: Database.Database) {
  const statements = new Map<string, Database.Statement>()
  return (sql: string): Database.Statement => {
    const known = statements.get(sql)
    if (known) return known
    const statement = database.prepare(sql)
    if (statements.size === MAX_STATEMENTS) statements.clear()
    statements.set(sql, statement)
    return statement
  }
}

/** Looks at the file before anything could write to it. */
async function refuseUnusable(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined)
  if (!file) return
  if (file.isDirectory()) throw new Error('it is a folder')
  await access(path, constants.W_OK).catch((cause) => {
    throw new Error('it is read-only', { cause })
  })
  // To root every file seems writable, also one that somebody has protected.
  if ((file.mode & 0o222) === 0) throw new Error('it is read-only')
  if (file.size === 0) return
  // SQLite takes a short text for an empty database, and writes over it.
  if ((await beginningOf(path)) !== MAGIC) throw new Error('it is not a database')

  // What a crash left in the log must not be moved into the file yet. Without a log a plain
  // connection writes nothing either, and clears away what it makes beside the file.
  const log = await stat(`${path}-wal`).catch(() => undefined)
  const database = new Database(path, { readonly: log !== undefined, timeout: BUSY_TIMEOUT_MS })
  try {
    const found = database.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw new Error(`it is damaged: ${found}`)
    const tables = database
      .prepare<[], string>(`select name from sqlite_schema where type = 'table'`)
      .pluck()
      .all()
    if (tables.includes('migrations')) {
      const names = database.prepare<[], string>('select name from migrations').pluck().all()
      await refuseNewer(names, 'sqlite')
    } else if (tables.length > 0) {
      throw new Error('it belongs to another program')
    }
  } finally {
    database.close()
  }
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
