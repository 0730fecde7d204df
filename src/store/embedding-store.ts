import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { EmbeddingStore } from './embeddings.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'

/** So few at a time that the embedded database keeps nobody waiting. */
const ROWS = 200
const NUMBER_BYTES = 4

export function createEmbeddingStore(db: Kysely<Tables>): EmbeddingStore {
  return tellingFaults<EmbeddingStore>({
    async find(model, hashes) {
      if (hashes.length === 0) return new Map()
      const rows = await db
        .selectFrom('embeddings')
        .select(['sha256', 'vector'])
        .where('model', '=', model)
        .where('sha256', 'in', hashes)
        .execute()
      return new Map(rows.map(({ sha256, vector }) => [sha256, toVector(vector)]))
    },

    async save(model, vectors) {
      if (vectors.size === 0) return
      const rows = [...vectors].map(([sha256, vector]) => ({
        model,
        sha256,
        vector: toBytes(vector),
      }))
      await db
        .insertInto('embeddings')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },

    async sweep(model, needed) {
      let last: Key | undefined
      do {
        const keys = await keysBehind(db, last)
        await remove(
          db,
          keys.filter((key) => key.model !== model || !needed.has(key.sha256)),
        )
        last = keys.length < ROWS ? undefined : keys.at(-1)
        await setImmediate()
      } while (last)
    },
  })
}

interface Key {
  model: string
  sha256: string
}

function keysBehind(db: Kysely<Tables>, last: Key | undefined): Promise<Key[]> {
  let query = db.selectFrom('embeddings').select(['model', 'sha256'])
  if (last) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('model', 'sha256'), '>', tuple(last.model, last.sha256)),
    )
  }
  return query.orderBy('model').orderBy('sha256').limit(ROWS).execute()
}

async function remove(db: Kysely<Tables>, keys: readonly Key[]): Promise<void> {
  for (const [model, all = []] of Map.groupBy(keys, (key) => key.model)) {
    const hashes = all.map(({ sha256 }) => sha256)
    await db
      .deleteFrom('embeddings')
      .where('model', '=', model)
      .where('sha256', 'in', hashes)
      .execute()
  }
}

const toBytes = ({ buffer, byteOffset, byteLength }: Float32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** A copy, for floats must begin at a multiple of their size. */
const toVector = (bytes: Uint8Array): Float32Array =>
  new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.byteLength / NUMBER_BYTES))
