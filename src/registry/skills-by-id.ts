import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { Recording } from '../store/idempotency.ts'
import type { LossManner, SkillRecord, VersionRecord } from '../store/skill-records.ts'
import type { Published, SkillStore } from '../store/skills.ts'
import type { Packed } from './archives/archive.ts'
import type { Registry } from './registry.ts'
import { readVersionReference } from './version-reference.ts'

type Files = readonly BundleFile[] | Packed

interface NewSkill {
  by: string | null
  displayName?: string | undefined
}

interface NewVersion {
  by: string | null
  /** Whether it becomes the current one. */
  activate: boolean
  /** Whether it may be the first one of a shell. */
  shells: boolean
}

/**
 * Skills by their ids, as hosts of skills keep them: a skill may be an empty shell, every upload is
 * a version, and the folder of an upload is its name. What it cannot do it throws, as AppErrors.
 */
export interface SkillsById {
  find(id: string, options?: { shells: boolean }): Promise<SkillRecord>
  /** A version by its id, its epoch, its number or the word `latest`. */
  findVersion(id: string, version: string): Promise<VersionRecord>
  create(files: Files, skill: NewSkill, recording?: Recording<Published>): Promise<Published>
  addVersion(
    id: string,
    files: Files,
    version: NewVersion,
    recording?: Recording<Published>,
  ): Promise<Published>
  makeCurrent(id: string, version: string, recording?: Recording<SkillRecord>): Promise<SkillRecord>
  /** With its versions, or only where it has none. */
  remove(id: string, options?: { emptyOnly: boolean }): Promise<void>
  removeVersion(id: string, version: string, manner: LossManner): Promise<VersionRecord>
}

export function createSkillsById(
  skills: SkillStore,
  registry: Pick<Registry, 'publish' | 'unpack'>,
): SkillsById {
  const source = { type: 'api' } as const

  const find: SkillsById['find'] = async (id, { shells } = { shells: false }) => {
    const found = await skills.findRecord(id)
    if (!found || (found.shown === null && !shells)) throw skillNotFound(id)
    return found
  }

  async function findVersion(id: string, version: string): Promise<VersionRecord> {
    const reference = readVersionReference(version)
    const found = reference && (await skills.findVersionRecord(id, reference))
    if (found) return found
    await find(id, { shells: true })
    throw versionNotFound(id, version)
  }

  /** A version of any other name than `latest`, which is not one to change. */
  const findNamed = async (id: string, version: string): Promise<VersionRecord> => {
    if (version !== 'latest') return await findVersion(id, version)
    await find(id, { shells: true })
    throw versionNotFound(id, version)
  }

  const unpacked = async (files: Files) =>
    'format' in files ? await registry.unpack(files) : files

  return {
    find,
    findVersion,

    async create(files, { by, displayName }, recording) {
      if (displayName !== undefined) checkDisplayName(displayName)
      const upload = { files: await unpacked(files), mode: 'strict', folderIsName: true } as const
      const given = displayName === undefined ? {} : { displayName }
      return await registry.publish(upload, { source, by, createOnly: true, ...given }, recording)
    },

    async addVersion(id, files, { by, activate, shells }, recording) {
      const { name } = await find(id, { shells })
      const upload = {
        files: await unpacked(files),
        mode: 'strict',
        folderIsName: true,
        expectedName: name,
      } as const
      const manner = { source, by, activate, unchangedIf: 'never', into: id } as const
      return await registry.publish(upload, manner, recording)
    },

    async makeCurrent(id, version, recording) {
      const named = await findNamed(id, version)
      const changed = await skills.makeCurrent(id, named.version, recording)
      if (!changed) throw versionNotFound(id, version)
      return changed
    },

    async remove(id, { emptyOnly } = { emptyOnly: false }) {
      const removed = await skills.removeRecord(id, { emptyOnly })
      if (!removed) throw skillNotFound(id)
      if (removed.outcome === 'not_empty') {
        const what = `Skill ${id} has versions: delete all of them first.`
        throw new AppError('skill_not_empty', what)
      }
    },

    async removeVersion(id, version, manner) {
      const named = await findNamed(id, version)
      const removed = await skills.removeVersionRecord(id, named.id, manner)
      if (!removed) throw versionNotFound(id, version)
      if (removed.outcome === 'last') {
        const what = `Version ${version} is the last one of skill ${id}: delete the skill.`
        throw new AppError('last_version', what)
      }
      if (removed.outcome === 'shown') {
        const what = `Version ${version} is the default one of skill ${id}: make another one the default first.`
        throw new AppError('default_version', what)
      }
      return named
    },
  }
}

const MAX_DISPLAY_NAME = 255

function checkDisplayName(text: string): void {
  const length = [...text].length
  if (text.trim() === '') refuseDisplayName('is blank: leave it out, or fill it')
  if (length > MAX_DISPLAY_NAME) {
    refuseDisplayName(`has ${length} characters of ${MAX_DISPLAY_NAME} allowed`)
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) refuseDisplayName('is not on one line')
}

function refuseDisplayName(wrong: string): never {
  throw new AppError('body_invalid', `The display name ${wrong}.`)
}

const skillNotFound = (id: string): AppError =>
  new AppError('skill_not_found', `Skill ${id.slice(0, 64)} not found`)

const versionNotFound = (id: string, version: string): AppError =>
  new AppError('version_not_found', `Version ${version.slice(0, 64)} of skill ${id} not found`)
