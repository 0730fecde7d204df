import type { Kysely, Selectable } from 'kysely'
import { toId } from './ids.ts'
import type { ApiKey, KeyStore } from './keys.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

export function createKeyStore(db: Kysely<Tables>): KeyStore {
  return tellingFaults<KeyStore>({
    async findByHash(hash) {
      const row = await db
        .selectFrom('api_keys')
        .select(COLUMNS)
        .where('hash', '=', hash)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async isEmpty() {
      const row = await db.selectFrom('api_keys').select('seq').limit(1).executeTakeFirst()
      return row === undefined
    },

    async insert({ name, scopes, expiresAt, budget, hash, prefix }) {
      const lists = { scopes: JSON.stringify(scopes) }
      const values = { name, ...lists, expires_at: expiresAt, budget, hash, prefix }
      const row = await db
        .insertInto('api_keys')
        .values({ ...values, created_at: now() })
        .returning(COLUMNS)
        .executeTakeFirstOrThrow()
      return fromRow(row)
    },
  })
}

const COLUMNS = ['seq', 'name', 'scopes', 'expires_at', 'budget'] as const

type Row = Pick<Selectable<Tables['api_keys']>, (typeof COLUMNS)[number]>

const fromRow = ({ seq, name, scopes, expires_at, budget }: Row): ApiKey => ({
  id: toId('key', seq),
  name,
  scopes: JSON.parse(scopes),
  expiresAt: expires_at,
  budget,
})
