import { isDeepStrictEqual } from 'node:util'
import type { Kysely, Transaction } from 'kysely'
import { meets } from '../domain/precondition.ts'
import { blobsOf, sweepBlobs } from './blobs.ts'
import type { Recording } from './idempotency.ts'
import { record, refuseRecorded } from './idempotency-store.ts'
import { lockRegistry, raiseRevision } from './registry-row.ts'
import { countable, readSkill } from './skill-reads.ts'
import { sourceColumns } from './skill-rows.ts'
import { findState, refusalOf, type State, updateShown } from './skill-state.ts'
import type { SkillStore, StateChange, StoredSkill } from './skills.ts'
import type { Tables } from './tables.ts'
import { inTransaction, now } from './transaction.ts'

type Changes = Pick<SkillStore, 'change' | 'remove' | 'removeVersion'>

export function skillChanges(db: Kysely<Tables>): Changes {
  return {
    change: (name, change, recording?: Recording<StoredSkill>) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        if (recording) await refuseRecorded(trx, recording)
        const state = await findState(trx, name)
        if (!state) return undefined
        const { precondition, currentVersion } = change
        if (precondition && !meets(precondition, state)) return refusalOf(state)
        if (currentVersion !== undefined && !(await hasVersion(trx, state, currentVersion))) {
          return { outcome: 'no_version' }
        }

        if (differs(change, state)) await writeChange(trx, change, state, revision + 1)
        const skill = await readSkill(trx, name)
        if (!skill) return undefined
        if (recording) await record(trx, recording, skill)
        return { outcome: 'changed', skill }
      }),

    remove: (name, precondition) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        const state = await findState(trx, name)
        if (!state) return undefined
        if (precondition && !meets(precondition, state)) return refusalOf(state)

        await removeSkill(trx, state.seq, revision + 1)
        return { outcome: 'removed' }
      }),

    removeVersion: (name, version) =>
      inTransaction(db, async (trx) => {
        const revision = await lockRegistry(trx)
        const state = await findState(trx, name)
        if (!state || !(await hasVersion(trx, state, version))) return undefined
        const { seq, currentVersion } = state
        const needed = currentVersion === null ? await onlyVersion(trx, seq) : currentVersion
        if (version === needed) return { outcome: 'current' }

        const candidates = await blobsOf(trx, seq, version)
        await trx
          .deleteFrom('skill_versions')
          .where('skill', '=', seq)
          .where('version', '=', version)
          .execute()
        await sweepBlobs(trx, candidates)
        await writeChange(trx, {}, state, revision + 1)
        return { outcome: 'removed' }
      }),
  }
}

/** With everything that belongs to it. */
export async function removeSkill(
  trx: Transaction<Tables>,
  seq: number,
  revision: number,
): Promise<void> {
  const candidates = await blobsOf(trx, seq)
  await trx.deleteFrom('skills').where('seq', '=', seq).execute()
  await sweepBlobs(trx, candidates)
  await raiseRevision(trx, revision)
}

export async function writeChange(
  trx: Transaction<Tables>,
  { enabled, currentVersion, source }: StateChange,
  { seq }: State,
  revision: number,
): Promise<void> {
  await trx
    .updateTable('skills')
    .set({
      ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
      ...(currentVersion !== undefined && { current_version: currentVersion }),
      ...(source && sourceColumns(source)),
      revision,
      updated_at: now(),
    })
    .where('seq', '=', seq)
    .execute()
  await updateShown(trx, seq)
  await raiseRevision(trx, revision)
}

const differs = ({ enabled, currentVersion, source }: StateChange, state: State): boolean =>
  (enabled !== undefined && enabled !== state.enabled) ||
  (currentVersion !== undefined && currentVersion !== state.currentVersion) ||
  (source !== undefined && !isDeepStrictEqual(source, state.source))

export async function hasVersion(
  trx: Transaction<Tables>,
  { seq }: State,
  version: number,
): Promise<boolean> {
  const row = await trx
    .selectFrom('skill_versions')
    .select('seq')
    .where('skill', '=', seq)
    .where('version', '=', countable(version))
    .executeTakeFirst()
  return row !== undefined
}

/** A skill always keeps one version to show, also while none is current. */
async function onlyVersion(
  trx: Transaction<Tables>,
  skillSeq: number,
): Promise<number | undefined> {
  const rows = await trx
    .selectFrom('skill_versions')
    .select('version')
    .where('skill', '=', skillSeq)
    .limit(2)
    .execute()
  return rows.length === 1 ? rows[0]?.version : undefined
}
