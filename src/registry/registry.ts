import type { BundleLimits } from '../domain/bundle.ts'
import { Diagnostics } from '../domain/diagnostics.ts'
import { editSkillMd, type SkillEdit } from '../domain/edit-skill-md.ts'
import { nearestNames } from '../domain/nearest-names.ts'
import { meets, type Precondition, skillTag } from '../domain/precondition.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError, type Fault } from '../errors.ts'
import type { Recording } from '../store/idempotency.ts'
import type {
  Publication,
  Published,
  SkillStore,
  StateChange,
  StoredSkill,
  WriteRefusal,
} from '../store/skills.ts'
import { type ReadSkill, readUpload, type Upload } from './read-upload.ts'
import { type Snapshot, toSnapshot } from './snapshot.ts'

/** How a skill is to be stored. */
export type Manner = Pick<Publication, 'source' | 'by'> &
  Partial<Pick<Publication, 'note' | 'createOnly' | 'activate' | 'unchangedIf' | 'enabled'>> & {
    precondition?: Precondition | undefined
  }

export type PublishedUpload = Published & { skipped: string[] }

export interface Checked {
  valid: boolean
  errors: Fault[]
  warnings: Fault[]
  skill: ReadSkill | null
}

/**
 * The only writer of skills: whatever comes in by REST, from the directory or from elsewhere ends
 * in `publish`. What it cannot do it throws, as AppErrors.
 */
export interface Registry {
  publish(
    upload: Upload,
    manner: Manner,
    recording?: Recording<PublishedUpload>,
  ): Promise<PublishedUpload>
  /** Reads and checks an upload, whatever is stored. */
  read(upload: Upload): ReadSkill
  /** What `publish` would store, or its refusal; nothing is stored. */
  rehearse(upload: Upload, manner: Manner): Promise<Checked>
  /** As `read`, with what is wrong as a value. */
  check(upload: Upload): Checked
  /** Edits the current SKILL.md in place, as a new version; a draft stays a draft. */
  edit(
    name: string,
    edit: SkillEdit,
    manner: Manner,
    recording?: Recording<Published>,
  ): Promise<Published>
  change(
    name: string,
    change: StateChange,
    recording?: Recording<StoredSkill>,
  ): Promise<StoredSkill>
  remove(name: string, precondition?: Precondition): Promise<void>
  removeVersion(name: string, version: number): Promise<void>
  /** The live catalog; reads it anew when the revision has moved, by whosoever's write. */
  snapshot(): Promise<Snapshot>
  /** A failure to throw for a version that is not there, or a name: then with the nearest names. */
  notFound(name: string, version?: number): Promise<AppError>
}

export function createRegistry(skills: SkillStore, limits: BundleLimits): Registry {
  let latest: Snapshot = toSnapshot(-1, [])

  async function snapshot(): Promise<Snapshot> {
    if ((await skills.revision()) === latest.revision) return latest
    const { revision, entries } = await skills.catalog()
    if (revision > latest.revision) latest = toSnapshot(revision, entries)
    return latest
  }

  async function notFound(name: string, version?: number): Promise<AppError> {
    if (version !== undefined && (await skills.find(name))) {
      return new AppError('version_not_found', `"${name}" has no version ${version}.`)
    }
    const suggestions = nearestNames(name, (await snapshot()).names())
    const members = suggestions.length > 0 ? { members: { suggestions } } : {}
    return new AppError('skill_not_found', `No skill is named "${name.slice(0, 64)}".`, members)
  }

  async function store(
    { skipped, ...skill }: ReadSkill,
    manner: Manner,
    recording?: Recording<Published>,
  ): Promise<Published> {
    const { precondition, ...rest } = manner
    const publication: Publication = {
      ...skill,
      warnings: [...skill.warnings, ...(await reusedVersion(skill))],
      note: null,
      createOnly: false,
      activate: true,
      unchangedIf: 'current',
      ...rest,
      ...(precondition && { precondition }),
    }
    const written = await skills.publish(publication, recording)
    if ('skill' in written) return written
    throw refusal(skill.name, written)
  }

  /** Other bytes under a `version` that was declared before: nobody can tell the two apart. */
  async function reusedVersion(skill: Pick<ReadSkill, 'name' | 'declaredVersion' | 'digest'>) {
    const { name, declaredVersion, digest } = skill
    if (declaredVersion === null) return []
    const earlier = await skills.versions(name, { limit: 100 })
    const same = earlier.find(
      (version) => version.declaredVersion === declaredVersion && version.digest !== digest,
    )
    if (!same) return []
    const diagnostics = new Diagnostics('SKILL.md')
    const what = `version ${same.version} declares "${declaredVersion}" too, with other contents: raise it.`
    diagnostics.warn('declared_version_reused', what, { field: 'version' })
    return diagnostics.warnings
  }

  async function readEdited(skill: StoredSkill, edit: SkillEdit): Promise<ReadSkill> {
    const files: BundleFile[] = []
    for (const { path } of skill.files) {
      const file = await skills.readFile(skill.name, path)
      if (file) files.push({ path, bytes: file.bytes })
    }
    const before: Upload = { files, mode: 'strict', expectedName: skill.name }
    const edited = files.map(({ path, bytes }) =>
      path === 'SKILL.md' ? { path, bytes: editSkillMd(bytes, edit) } : { path, bytes },
    )
    // What was taken leniently stays so; what was sound has to stay sound.
    const mode = check(before).valid ? 'strict' : 'lenient'
    return readUpload({ ...before, files: edited, mode }, limits)
  }

  function check(upload: Upload): Checked {
    const diagnostics = new Diagnostics('SKILL.md', upload.mode)
    try {
      const skill = readUpload(upload, limits, diagnostics)
      return { valid: true, errors: [], warnings: skill.warnings, skill }
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      const errors = error.errors ?? [{ code: error.code, message: error.message }]
      return { valid: false, errors, warnings: diagnostics.warnings, skill: null }
    }
  }

  return {
    snapshot,
    notFound,

    async publish(upload, manner, recording) {
      const skill = readUpload(upload, limits)
      const { skipped } = skill
      const stored = recording && {
        ...recording,
        answer: (published: Published) => recording.answer({ ...published, skipped }),
      }
      return { ...(await store(skill, manner, stored)), skipped }
    },

    check,
    read: (upload) => readUpload(upload, limits),

    async rehearse(upload, { createOnly, precondition }) {
      const skill = readUpload(upload, limits)
      const current = await skills.find(skill.name)
      if (precondition && !meets(precondition, current)) {
        throw refusal(skill.name, { outcome: 'conflict', current })
      }
      if (current && createOnly) throw refusal(skill.name, { outcome: 'exists' })
      const warnings = [...skill.warnings, ...(await reusedVersion(skill))]
      return { valid: true, errors: [], warnings, skill: { ...skill, warnings } }
    },

    async edit(name, edit, { precondition, ...manner }, recording) {
      for (let tries = 1; ; tries++) {
        const skill = await skills.find(name)
        if (!skill) throw await notFound(name)
        if (precondition && !meets(precondition, skill)) {
          throw refusal(name, { outcome: 'conflict', current: skill })
        }
        const read = await readEdited(skill, edit)
        const unmoved = { tags: [skillTag(skill)] }
        const activate = skill.version !== null
        try {
          return await store(read, { ...manner, activate, precondition: unmoved }, recording)
        } catch (error) {
          // Somebody else wrote between our reading and our writing: edit what is there now.
          const moved = error instanceof AppError && error.code === 'version_conflict'
          if (!moved || tries === 5) throw error
        }
      }
    },

    async change(name, change, recording) {
      const changed = await skills.change(name, change, recording)
      if (!changed) throw await notFound(name)
      if (changed.outcome === 'changed') return changed.skill
      if (changed.outcome !== 'no_version') throw refusal(name, changed)
      throw await notFound(name, change.currentVersion)
    },

    async remove(name, precondition) {
      const removed = await skills.remove(name, precondition)
      if (!removed) throw await notFound(name)
      if (removed.outcome !== 'removed') throw refusal(name, removed)
    },

    async removeVersion(name, version) {
      const removed = await skills.removeVersion(name, version)
      if (!removed) throw await notFound(name, version)
      if (removed.outcome === 'current') {
        const what = `Version ${version} of "${name}" is the current one: make another one current first.`
        throw new AppError('version_current', what)
      }
    },
  }
}

function refusal(name: string, refused: WriteRefusal): AppError {
  if (refused.outcome === 'exists') {
    const what = `A skill is named "${name}" already: PUT replaces it.`
    return new AppError('skill_exists', what)
  }
  const state = refused.current
    ? `it is at version ${refused.current.version} now`
    : 'it is not there'
  return new AppError('version_conflict', `"${name}" is not as the request expects: ${state}.`)
}
