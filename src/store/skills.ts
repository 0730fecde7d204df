import type { CatalogEntry, TokenCounts } from '../domain/catalog-entry.ts'
import type { Precondition } from '../domain/precondition.ts'
import type { Skill } from '../domain/skill.ts'
import type { Fault } from '../errors.ts'
import type { Recording } from './idempotency.ts'
import type { SkillRecordStore, VersionRecord } from './skill-records.ts'

export interface FileEntry {
  path: string
  /** Hexadecimal SHA-256 of the bytes. */
  sha256: string
  size: number
  mediaType: string
}

export interface NewFile extends FileEntry {
  bytes: Uint8Array
}

/** Where a skill came from; `folder` is its folder's name in the skills directory. */
export type Source =
  | { type: 'api' }
  /** `withdrawn`: the folder has vanished, and the skill was disabled for that reason alone. */
  | { type: 'directory'; folder: string; withdrawn?: true }

/** One immutable version: what its SKILL.md says, and the facts of its storing. */
export interface Version extends Skill {
  /** `skver_…` */
  id: string
  version: number
  /** `sha256:` and hex: of SKILL.md when it is the only file, else of the bundle's manifest. */
  digest: string
  /** Bytes of all files. */
  size: number
  /** Every file, SKILL.md too, in code-point order of the paths. */
  files: FileEntry[]
  tokens: TokenCounts
  warnings: Fault[]
  note: string | null
  /** The id of the API key that wrote it; null when there was none. */
  by: string | null
  at: string
}

export type VersionSummary = Omit<Version, 'body' | 'files'> & { fileCount: number }

/** A skill, with what its current version says (its latest, when none is current). */
export interface StoredSkill extends Omit<Version, 'id' | 'version' | 'note' | 'by' | 'at'> {
  /** `skill_…` */
  id: string
  /** The current version: null until one is made current. */
  version: number | null
  latestVersion: number
  enabled: boolean
  source: Source
  /** The registry's revision at the last write to this skill. */
  revision: number
  createdAt: string
  updatedAt: string
}

/** `fileCount` counts every file, SKILL.md too. */
export type SkillSummary = Omit<StoredSkill, 'body' | 'files'> & { fileCount: number }

export interface Publication extends Skill {
  digest: string
  files: NewFile[]
  tokens: TokenCounts
  warnings: Fault[]
  source: Source
  note: string | null
  by: string | null
  /** Refuse to touch a skill that is there. */
  createOnly: boolean
  /** Whether the version becomes the current one. */
  activate: boolean
  /**
   * Which versions make this one superfluous when their digest is the same: the current one (the
   * latest, with `activate: false`), any that is stored, or none.
   */
  unchangedIf: 'current' | 'stored' | 'never'
  /** The title of a skill that is new. */
  displayName?: string | null
  /** The id of the skill that it becomes a version of, and of no other one by its name. */
  into?: string
  /** Also sets whether the skill is enabled. */
  enabled?: boolean
  precondition?: Precondition
}

export type Published = {
  outcome: 'created' | 'updated' | 'unchanged'
  skill: StoredSkill
  newest: VersionRecord
}

export type WriteRefusal =
  /** The name is taken, and `createOnly` was asked for. */
  | { outcome: 'exists' }
  /** No skill has the id that `into` names. */
  | { outcome: 'gone' }
  /** The precondition does not hold; the skill that is there, if any. */
  | { outcome: 'conflict'; current: { version: number | null; revision: number } | undefined }

export interface StateChange {
  enabled?: boolean
  currentVersion?: number
  source?: Source
  precondition?: Precondition
}

export interface SkillFilter {
  /** All of them must be among the skill's tags, compared without case. */
  tags?: string[]
  /** An entry of `allowed-tools`, as written. */
  tool?: string
  enabled?: boolean
  source?: Source['type']
  /** These alone. */
  names?: string[]
  /** Only what models may load: enabled, not hidden from them, and with a current version. */
  callable?: boolean
}

export interface SkillPage extends SkillFilter {
  sort: 'name' | '-updated_at'
  /** The last element of the page before, by its name, or its revision when sorted by time. */
  after?: string
  limit: number
}

/** For skills that hold one of the phrases in the name, the description or the tags. */
export interface SkillSearch extends SkillFilter {
  /** As `queryPhrases` gives them; none finds nothing. */
  phrases: string[][]
  /** The best first, and of equals by name, unless it says otherwise. */
  sort?: 'relevance' | SkillPage['sort']
  /** The last hit of the page before: as in a list or, by relevance, what `placeOf` says. */
  after?: string
  limit: number
}

/** The higher the score the better; only scores of one search compare. */
export type SkillHit = SkillSummary & { score: number }

/**
 * Where a page of hits ends: the score of its last one, its name, and the names before it, for
 * the last one may be gone when the next page is asked for. `after` is where the page began.
 */
export function placeOf(page: readonly { name: string; score?: number }[], after = ''): string {
  const names = [...page.map(({ name }) => name).reverse(), ...after.split(' ').slice(1)]
  return [page.at(-1)?.score ?? 0, ...names.slice(0, 3)].join(' ')
}

/**
 * Where skills live. One method is one transaction. Absence is a value; a rejection means that the
 * storage is broken (an AppError `storage_…`). Every write raises the registry's revision by one.
 */
export interface SkillStore extends SkillRecordStore {
  /** Rises with every write to a skill; 0 in the beginning. */
  revision(): Promise<number>
  /** Every skill that has a current version, in code-point order of the names, as of a revision. */
  catalog(): Promise<{ revision: number; entries: CatalogEntry[] }>
  find(name: string): Promise<StoredSkill | undefined>
  list(page: SkillPage): Promise<SkillSummary[]>
  /** Finds skills as their shown versions stand, from the moment of the write on. */
  search(search: SkillSearch): Promise<SkillHit[]>
  /** The names that `search` would find, the best first. */
  rank(search: Omit<SkillSearch, 'sort' | 'after'>): Promise<string[]>
  findVersion(name: string, version: number): Promise<Version | undefined>
  /** Newest first, below `before`. */
  versions(name: string, page: { before?: number; limit: number }): Promise<VersionSummary[]>
  /** The bytes of one file, of the current version (the latest, when none is current) or of `version`. */
  readFile(
    name: string,
    path: string,
    version?: number,
  ): Promise<(FileEntry & { bytes: Uint8Array; digest: string }) | undefined>

  /** Stores a version with its files, its tags and the new revision, all or nothing. */
  publish(
    publication: Publication,
    recording?: Recording<Published>,
  ): Promise<Published | WriteRefusal>
  /** Changes what is no version. Undefined when there is no such skill. */
  change(
    name: string,
    change: StateChange,
    recording?: Recording<StoredSkill>,
  ): Promise<
    | { outcome: 'changed'; skill: StoredSkill }
    | { outcome: 'no_version' }
    | WriteRefusal
    | undefined
  >
  /** The name is free at once. Undefined when there is no such skill. */
  remove(
    name: string,
    precondition?: Precondition,
  ): Promise<{ outcome: 'removed' } | WriteRefusal | undefined>
  /**
   * The number of a removed version is never used again. `current` also for the only version of a
   * skill, which always has one to show. Undefined when there is none such.
   */
  removeVersion(
    name: string,
    version: number,
  ): Promise<{ outcome: 'removed' | 'current' } | undefined>

  /** Resolves once a write has been committed: the storage takes writes. */
  probe(): Promise<void>
}
