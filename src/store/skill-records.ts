import type { Recording } from './idempotency.ts'
import type { StoredSkill } from './skills.ts'

/** One version, in short. */
export interface VersionRecord {
  /** `skver_…` */
  id: string
  /** `skill_…` */
  skill: string
  version: number
  /**
   * The microsecond of its creation, of 16 digits. Unique, and higher than any before it: also
   * where the clock stands still or was put back.
   */
  epoch: number
  name: string
  description: string
  at: string
}

/** A skill as it is known by its id. A shell has lost its last version, and with it its name. */
export interface SkillRecord {
  id: string
  name: string
  title: string | null
  /** Its current version, or the newest while none is current; null for a shell. */
  shown: { version: number; description: string } | null
  /** Null for a shell. */
  newest: Pick<VersionRecord, 'id' | 'version' | 'epoch'> | null
  createdAt: string
  updatedAt: string
}

/** By creation: `after` is an id of the page before, whose row may be gone. */
export interface RecordPage {
  order: 'asc' | 'desc'
  after?: string | undefined
  limit: number
}

export type VersionReference = { id: string } | { epoch: number } | { version: number } | 'latest'

/** What becomes of a skill that would lose its last version, or the one it shows beside others. */
export interface LossManner {
  last: 'refuse' | 'shell' | 'skill'
  /** `replace`: the newest that remains becomes current. */
  shown: 'refuse' | 'replace'
}

/** Skills by their ids, shells among them; a part of `SkillStore`. */
export interface SkillRecordStore {
  findRecord(id: string): Promise<SkillRecord | undefined>
  records(page: RecordPage & { shells: boolean }): Promise<SkillRecord[]>
  /** Of this skill alone. */
  findVersionRecord(id: string, reference: VersionReference): Promise<VersionRecord | undefined>
  versionRecords(id: string, page: RecordPage): Promise<VersionRecord[]>
  /** Whether a list could have shown this id: of a skill, or of a version of `skill`. */
  wasListed(id: string, skill?: string): Promise<boolean>

  /** Undefined when there is no such skill, or it has no such version. */
  makeCurrent(
    id: string,
    version: number,
    recording?: Recording<SkillRecord>,
  ): Promise<SkillRecord | undefined>
  /** With `emptyOnly` a shell alone. Undefined when there is no such skill. */
  removeRecord(
    id: string,
    options: { emptyOnly: boolean },
  ): Promise<{ outcome: 'removed' | 'not_empty' } | undefined>
  /** Undefined when the skill has no version of this id. */
  removeVersionRecord(
    id: string,
    version: string,
    manner: LossManner,
  ): Promise<{ outcome: 'removed' | 'last' | 'shown' } | undefined>
}

/** What a write left, in short. */
export const recordOf = (skill: StoredSkill, newest: VersionRecord): SkillRecord => ({
  id: skill.id,
  name: skill.name,
  title: skill.title,
  shown: { version: skill.version ?? newest.version, description: skill.description },
  newest,
  createdAt: skill.createdAt,
  updatedAt: skill.updatedAt,
})
