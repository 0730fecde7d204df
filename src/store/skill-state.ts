import type { Selectable, Transaction } from 'kysely'
import type { Tagged } from '../domain/precondition.ts'
import { toSeq } from './ids.ts'
import { indexSkill } from './search-index.ts'
import { shownSkills, sourceOf } from './skill-rows.ts'
import type { Source, WriteRefusal } from './skills.ts'
import type { SkillTable, Tables } from './tables.ts'
import { comparable } from './transaction.ts'

/** What a write must know of the skill that is there; `digest` is that of the version it shows. */
export interface State extends Tagged {
  seq: number
  currentVersion: number | null
  latestVersion: number
  /** The row of the version that it shows. */
  shown: number | null
  enabled: boolean
  source: Source
}

export async function findState(
  trx: Transaction<Tables>,
  name: string,
): Promise<State | undefined> {
  const row = await states(trx).where('name', '=', comparable(name)).executeTakeFirst()
  return row && toState(row)
}

export async function findStateById(
  trx: Transaction<Tables>,
  id: string,
): Promise<State | undefined> {
  const seq = toSeq('skill', id)
  const row = await states(trx).where('skills.seq', '=', seq).executeTakeFirst()
  return row && toState(row)
}

const states = (trx: Transaction<Tables>) =>
  shownSkills(trx).selectAll('skills').select('shown.digest')

function toState(row: Selectable<SkillTable> & Pick<State, 'digest'>): State {
  return {
    seq: row.seq,
    currentVersion: row.current_version,
    latestVersion: row.latest_version,
    shown: row.shown,
    enabled: row.enabled === 1,
    source: sourceOf(row),
    revision: row.revision,
    digest: row.digest,
  }
}

export const refusalOf = (state: State | undefined): WriteRefusal => ({
  outcome: 'conflict',
  current: state && { version: state.currentVersion, revision: state.revision },
})

/** To be called when the versions of a skill, or which of them is current, have changed. */
export async function updateShown(trx: Transaction<Tables>, skillSeq: number): Promise<void> {
  await trx
    .updateTable('skills')
    .set(({ selectFrom }) => ({
      shown: selectFrom('skill_versions')
        .select('skill_versions.seq')
        .whereRef('skill_versions.skill', '=', 'skills.seq')
        .where(({ or, eb, ref }) =>
          or([
            eb('skills.current_version', 'is', null),
            eb('skill_versions.version', '=', ref('skills.current_version')),
          ]),
        )
        .orderBy('skill_versions.version', 'desc')
        .limit(1),
    }))
    .where('seq', '=', skillSeq)
    .execute()
  await indexSkill(trx, skillSeq)
}
