import type { Kysely, Transaction } from 'kysely'
import { blobsOf, sweepBlobs } from './blobs.ts'
import { record, refuseRecorded } from './idempotency-store.ts'
import { toSeq } from './ids.ts'
import { readRecord } from './record-reads.ts'
import { lockRegistry, raiseRevision } from './registry-row.ts'
import { hasVersion, removeSkill, writeChange } from './skill-changes.ts'
import type { SkillRecordStore } from './skill-records.ts'
import { findStateById } from './skill-state.ts'
import type { Tables } from './tables.ts'
import { inTransaction, now } from './transaction.ts'

type Changes = Pick<SkillRecordStore, 'makeCurrent' | 'removeRecord' | 'removeVersionRecord'>

export function recordChanges(db: Kysely<Tables>): Changes {
  return {
    makeCurrent: (id, version, recording) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        if (recording) await refuseRecorded(trx, recording)
        const state = await findStateById(trx, id)
        if (!state || !(await hasVersion(trx, state, version))) return undefined
        if (state.currentVersion !== version) {
          await writeChange(trx, { currentVersion: version }, state, revision + 1)
        }
        const skill = await readRecord(trx, id)
        if (skill && recording) await record(trx, recording, skill)
        return skill
      }),

    removeRecord: (id, { emptyOnly }) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        const state = await findStateById(trx, id)
        if (state && emptyOnly) return { outcome: 'not_empty' }
        if (state) {
          await removeSkill(trx, state.seq, revision + 1)
          return { outcome: 'removed' }
        }
        if (!emptyOnly) return undefined
        const { numDeletedRows } = await trx
          .deleteFrom('skill_shells')
          .where('seq', '=', toSeq('skill', id))
          .executeTakeFirstOrThrow()
        if (numDeletedRows === 0n) return undefined
        await raiseRevision(trx, revision + 1)
        return { outcome: 'removed' }
      }),

    removeVersionRecord: (id, versionId, manner) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        const state = await findStateById(trx, id)
        if (!state) return undefined
        const seq = toSeq('skver', versionId)
        const versions = await trx
          .selectFrom('skill_versions')
          .select(['seq', 'version'])
          .where('skill', '=', state.seq)
          .orderBy('version', 'desc')
          .execute()
        const lost = versions.find((version) => version.seq === seq)
        if (!lost) return undefined

        const newest = versions.find((version) => version.seq !== seq)
        if (newest === undefined) {
          if (manner.last === 'refuse') return { outcome: 'last' }
          if (manner.last === 'shell') await keepShell(trx, state.seq)
          await removeSkill(trx, state.seq, revision + 1)
          return { outcome: 'removed' }
        }
        if (seq === state.shown && manner.shown === 'refuse') return { outcome: 'shown' }

        const candidates = await blobsOf(trx, state.seq, lost.version)
        await trx.deleteFrom('skill_versions').where('seq', '=', seq).execute()
        await sweepBlobs(trx, candidates)
        const current = lost.version === state.currentVersion
        const change = current ? { currentVersion: newest.version } : {}
        await writeChange(trx, change, state, revision + 1)
        return { outcome: 'removed' }
      }),
  }
}

async function keepShell(trx: Transaction<Tables>, seq: number): Promise<void> {
  const { name, display_name, enabled, latest_version, created_at } = await trx
    .selectFrom('skills')
    .select(['name', 'display_name', 'enabled', 'latest_version', 'created_at'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow()
  const values = { seq, name, display_name, enabled, latest_version, created_at }
  await trx
    .insertInto('skill_shells')
    .values({ ...values, updated_at: now() })
    .execute()
}
