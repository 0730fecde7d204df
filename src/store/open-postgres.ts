import { PostgresDialect } from 'kysely'
import pg from 'pg'

const { builtins } = pg.types

export function postgresDialect(url: string): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    // A writer that waits for longer, or an instance that froze in a transaction, holds up all.
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    types: { getTypeParser },
  })
  // Without a listener a lost connection ends the process; the query that needs it tells of it.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return new PostgresDialect({ pool })
}

const ignore = (): void => undefined

/** Sequence numbers, revisions and counts stay below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (id, format) =>
  id === builtins.INT8 ? Number : pg.types.getTypeParser(id, format)
