import type { BundleLimits } from '../domain/bundle.ts'
import { Diagnostics } from '../domain/diagnostics.ts'
import { editSkillMd, type SkillEdit } from '../domain/edit-skill-md.ts'
import type { Precondition } from '../domain/precondition.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { Recording } from '../store/idempotency.ts'
import type {
  Publication,
  Published,
  SkillStore,
  StateChange,
  StoredSkill,
} from '../store/skills.ts'
import type { Packed } from './archives/archive.ts'
import { unpack } from './archives/unpack.ts'
import { type Checked, toInvalid, toSound } from './checked.ts'
import { checkFileChange, type FileChange, withFile } from './file-change.ts'
import { lintBeside } from './lint-beside.ts'
import { openLiveCatalog } from './live-catalog.ts'
import { describeMissing } from './not-found.ts'
import { type ReadSkill, readUpload, type Upload } from './read-upload.ts'
import { refusal, refuseUnmet } from './refusal.ts'
import { type Rewriting, rewrite } from './rewrite.ts'
import type { Snapshot } from './snapshot.ts'

/** How a skill is to be stored. */
export type Manner = Pick<Publication, 'source' | 'by'> &
  Partial<Omit<Publication, keyof ReadSkill | 'precondition'>> & {
    precondition?: Precondition | undefined
  }

export type PublishedUpload = Published & { skipped: string[] }
export type PublishedFile = PublishedUpload & { added: boolean }

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
  /** As `publish`, of a skill that `check` found to be sound. */
  store(
    checked: ReadSkill,
    manner: Manner,
    recording?: Recording<PublishedUpload>,
  ): Promise<PublishedUpload>
  /** Reads and checks an upload, whatever is stored. */
  read(upload: Upload): ReadSkill
  /** What `publish` would store, or its refusal; nothing is stored. */
  rehearse(upload: Upload, manner: Manner): Promise<Checked>
  /** As `read`, with what is wrong as a value, and with every warning that storing it would earn. */
  check(upload: Upload): Promise<Checked>
  /** The files of an archive that holds one skill. */
  unpack(packed: Packed): Promise<BundleFile[]>
  /** As `check`, of what an archive holds. */
  checkPacked(packed: Packed, upload: Omit<Upload, 'files'>): Promise<Checked>
  /** Edits the current SKILL.md in place, as a new version; a draft stays a draft. */
  edit(
    name: string,
    edit: SkillEdit,
    manner: Manner,
    recording?: Recording<Published>,
  ): Promise<Published>
  /** Puts or removes one file of the current version, as a new version; a draft stays a draft. */
  changeFile(
    name: string,
    change: FileChange,
    manner: Manner,
    recording?: Recording<PublishedFile>,
  ): Promise<PublishedFile>
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

/** `tools` are the service's own: `allowed-tools` may name them. */
export function createRegistry(
  skills: SkillStore,
  limits: BundleLimits,
  tools: readonly string[],
): Registry {
  const live = openLiveCatalog(skills)
  const read = (upload: Upload, diagnostics?: Diagnostics): ReadSkill =>
    readUpload(upload, { limits, tools }, diagnostics)

  const notFound: Registry['notFound'] = (name, version) =>
    describeMissing(skills, live, name, version)

  async function store(
    { skipped, ...skill }: ReadSkill,
    manner: Manner,
    recording?: Recording<PublishedUpload>,
  ): Promise<PublishedUpload> {
    const { precondition, ...rest } = manner
    const publication: Publication = {
      ...skill,
      note: null,
      createOnly: false,
      activate: true,
      unchangedIf: 'current',
      ...rest,
      ...(precondition && { precondition }),
    }
    const stored = recording && {
      ...recording,
      answer: (published: Published) => recording.answer({ ...published, skipped }),
    }
    const written = await skills.publish(publication, stored)
    if (!('skill' in written)) throw refusal(skill.name, written)
    live.follow(written.skill)
    return { ...written, skipped }
  }

  const publish: Registry['publish'] = async (upload, manner, recording) =>
    store(await lint(read(upload)), manner, recording)

  async function rewriteAs(
    name: string,
    manner: Manner,
    allow: Rewriting<PublishedUpload>['allow'],
    change: Rewriting<PublishedUpload>['change'],
    recording?: Recording<PublishedUpload>,
  ): Promise<PublishedUpload> {
    const written = await rewrite<PublishedUpload>(skills, name, {
      allow,
      change,
      isSound: (upload) => inspect(upload).valid,
      store: (upload, activate, precondition) =>
        publish(upload, { ...manner, activate, precondition }, recording),
    })
    if (!written) throw await notFound(name)
    return written
  }

  function inspect(upload: Upload): Checked {
    const diagnostics = new Diagnostics('SKILL.md', upload.mode)
    try {
      return toSound(read(upload, diagnostics))
    } catch (error) {
      return toInvalid(error, diagnostics.warnings)
    }
  }

  async function check(upload: Upload): Promise<Checked> {
    const checked = inspect(upload)
    return checked.skill ? toSound(await lint(checked.skill)) : checked
  }

  /** With every warning that it is stored with. */
  async function lint(skill: ReadSkill): Promise<ReadSkill> {
    return { ...skill, warnings: [...skill.warnings, ...(await lintBeside(skill, skills, live))] }
  }

  return {
    snapshot: live.read,
    notFound,

    publish,
    store,
    check,
    read,
    unpack: (packed) => unpack(packed, limits),

    async checkPacked(packed, upload) {
      try {
        return await check({ ...upload, files: await unpack(packed, limits) })
      } catch (error) {
        return toInvalid(error)
      }
    },

    async rehearse(upload, { createOnly, precondition }) {
      const skill = read(upload)
      const current = await skills.find(skill.name)
      refuseUnmet(skill.name, precondition, current)
      if (current && createOnly) throw refusal(skill.name, { outcome: 'exists' })
      return toSound(await lint(skill))
    },

    edit: (name, edit, manner, recording) =>
      rewriteAs(
        name,
        manner,
        (skill) => refuseUnmet(name, manner.precondition, skill),
        (files) =>
          files.map(({ path, bytes }) =>
            path === 'SKILL.md' ? { path, bytes: editSkillMd(bytes, edit) } : { path, bytes },
          ),
        recording,
      ),

    async changeFile(name, change, manner, recording) {
      let added = false
      const stored = recording && {
        ...recording,
        answer: (published: PublishedUpload) => recording.answer({ ...published, added }),
      }
      const published = await rewriteAs(
        name,
        manner,
        (skill) => {
          added = checkFileChange(skill, change, manner.precondition).added
        },
        (files) => withFile(files, change),
        stored,
      )
      return { ...published, added }
    },

    async change(name, change, recording) {
      const changed = await skills.change(name, change, recording)
      if (!changed) throw await notFound(name)
      if (changed.outcome === 'changed') {
        live.follow(changed.skill)
        return changed.skill
      }
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
