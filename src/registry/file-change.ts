import { withSlashes } from '../domain/bundle.ts'
import { meets, type Precondition } from '../domain/precondition.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { StoredSkill } from '../store/skills.ts'
import { refusal } from './refusal.ts'

/** One file of a skill, put there or taken away. */
export interface FileChange {
  path: string
  /** Null takes the file away. */
  bytes: Uint8Array | null
}

/** Throws unless the change may be made to this skill; else whether it adds a file. */
export function checkFileChange(
  skill: StoredSkill,
  { path: written, bytes }: FileChange,
  precondition: Precondition | undefined,
): { added: boolean } {
  const path = withSlashes(written)
  const file = skill.files.find((other) => other.path === path)
  if (bytes === null && !file) {
    throw new AppError('file_not_found', `"${skill.name}" has no file of that path.`)
  }
  if (precondition && !meetsFile(precondition, skill, file?.sha256)) {
    throw refusal(skill.name, { outcome: 'conflict', current: skill })
  }
  if (bytes === null && path === 'SKILL.md') {
    const what = 'A skill is not without its SKILL.md: delete the skill, or put another file there.'
    throw new AppError('archive_no_skill', what)
  }
  return { added: !file }
}

/** Presence is that of the file; a tag may be that of the file or of the skill. */
function meetsFile(precondition: Precondition, skill: StoredSkill, sha256?: string): boolean {
  if (precondition === 'absent') return sha256 === undefined
  if (precondition === 'exists') return sha256 !== undefined
  const known = sha256 !== undefined && precondition.tags.includes(`sha256:${sha256}`)
  return known || meets(precondition, skill)
}

export function withFile(files: readonly BundleFile[], change: FileChange): BundleFile[] {
  const { bytes } = change
  const path = withSlashes(change.path)
  const others = files.filter((file) => file.path !== path)
  return bytes === null ? others : [...others, { path: change.path, bytes }]
}
