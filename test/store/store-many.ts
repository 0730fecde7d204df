import { type Kysely, sql } from 'kysely'
import { indexAll } from '../../src/store/search-index.ts'
import type { Tables } from '../../src/store/tables.ts'

export interface MadeSkill {
  name: string
  description: string
  tags?: string[]
  body: string
}

const BATCH = 500

/** Stores skills past the store, in one transaction, for where their number is the point. */
export async function storeMany(db: Kysely<Tables>, made: readonly MadeSkill[]): Promise<void> {
  const at = new Date(0).toISOString()
  await db.transaction().execute(async (trx) => {
    for (let start = 0; start < made.length; start += BATCH) {
      const batch = made.slice(start, start + BATCH)
      const state = { enabled: 1, current_version: 1, latest_version: 1, shown: null } as const
      const origin = { source: 'api', folder: null, withdrawn: 0 } as const
      const times = { created_at: at, updated_at: at }
      const inserted = await trx
        .insertInto('skills')
        .values(
          batch.map(({ name }, index) => ({
            name,
            ...state,
            ...origin,
            ...times,
            revision: start + index + 1,
          })),
        )
        .returning(['seq', 'name'])
        .execute()
      const seqs = new Map(inserted.map(({ seq, name }) => [name, seq]))
      await trx
        .insertInto('skill_versions')
        .values(
          batch.map(({ name, description, tags = [], body }, index) => ({
            skill: seqs.get(name) ?? 0,
            version: 1,
            epoch: start + index + 1,
            digest: `sha256:${name}`,
            description,
            body,
            hidden: 0 as const,
            tags: JSON.stringify(tags),
            metadata: '{}',
            extra: '{}',
            warnings: '[]',
            size: 0,
            catalog_tokens: 0,
            body_tokens: 0,
            written_at: at,
          })),
        )
        .execute()
    }
    await sql`update skills set shown =
      (select seq from skill_versions where skill = skills.seq)`.execute(trx)
    await trx.updateTable('registry').set({ revision: made.length }).execute()
    await indexAll(trx)
  })
}
