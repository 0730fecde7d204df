import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { CatalogEntry } from '../../domain/catalog-entry.ts'
import { Diagnostics } from '../../domain/diagnostics.ts'
import type { BundleFile, Skill } from '../../domain/skill.ts'
import { parseSkillMd } from '../../domain/skill-md.ts'
import { AppError } from '../../errors.ts'
import { writeArchive } from '../../registry/archives/write-archive.ts'
import type { FileEntry, SkillStore } from '../../store/skills.ts'

type Reads = Pick<SkillStore, 'findVersion' | 'readFile'>

/** What a skill is offered as. Follows from its name and its digest alone. */
export interface Artifact {
  type: 'skill-md' | 'archive'
  /** `sha256:` and hex, of the bytes that the client gets. */
  digest: string
  /** In the order in which they are packed. */
  files: readonly FileEntry[]
}

/** Null: not to be offered. Undefined: the version is gone. */
export type Inspected = Artifact | null | undefined

/** Looks a version up; `pack` makes its archive, which only several files need. */
export async function inspect(
  skills: Reads,
  { name, version, digest }: CatalogEntry,
  pack: (files: readonly FileEntry[]) => Promise<Buffer>,
): Promise<Inspected> {
  const found = await skills.findVersion(name, version)
  const skillMd = await skills.readFile(name, 'SKILL.md', version)
  if (found?.digest !== digest || skillMd?.digest !== digest) return undefined
  if (!isForEveryone(name, skillMd.bytes)) return null
  const { files } = found
  if (files.length === 1) return { type: 'skill-md', digest: `sha256:${skillMd.sha256}`, files }
  const bytes = await pack(files).catch(undefinedWhenGone)
  return (
    bytes && {
      type: 'archive',
      digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      files,
    }
  )
}

function undefinedWhenGone(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'file_not_found')) throw error
}

/** What was taken leniently fails in clients that are strict, and what is internal is not theirs. */
function isForEveryone(name: string, bytes: Uint8Array): boolean {
  const skill = readStrictly(bytes)
  return skill?.name === name && String(skill.metadata.internal).toLowerCase() !== 'true'
}

function readStrictly(bytes: Uint8Array): Skill | undefined {
  try {
    return parseSkillMd(bytes, new Diagnostics('SKILL.md', 'strict'))
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** An archive without a folder of its own: the same files make the same bytes. */
export const packFiles = (
  skills: Pick<SkillStore, 'readFile'>,
  entry: CatalogEntry,
  files: readonly FileEntry[],
): Promise<Buffer> => buffer(writeArchive('tgz', filesOf(skills, entry, files)))

async function* filesOf(
  skills: Pick<SkillStore, 'readFile'>,
  { name, version, digest }: CatalogEntry,
  files: readonly FileEntry[],
): AsyncGenerator<BundleFile> {
  for (const { path } of files) {
    const file = await skills.readFile(name, path, version)
    if (file?.digest !== digest) {
      throw new AppError('file_not_found', `"${name}" was deleted in the meantime.`)
    }
    yield { path, bytes: file.bytes }
  }
}
