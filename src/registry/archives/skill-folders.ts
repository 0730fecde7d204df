import {
  isNoise,
  isSkillMd,
  refuseEscapes,
  refuseFolders,
  withSlashes,
} from '../../domain/bundle.ts'
import { AppError } from '../../errors.ts'

/** A folder deeper than that holds no skill. */
const MAX_DEPTH = 32

/** A folder that holds a SKILL.md and lies below no other such folder; empty: the root. */
export interface SkillFolder {
  folder: string
  /** Of its SKILL.md, as it stands in the archive. */
  path: string
  /** How many files lie in it. */
  count: number
}

export interface SkillFolders {
  /** In code-point order. */
  folders: SkillFolder[]
  /** The folder that a file lies in, and its path from there; undefined when no skill has it. */
  find(path: string): { folder: SkillFolder; path: string } | undefined
  /** The files that belong to no skill. */
  skipped: string[]
}

/**
 * Tells which of many files make up which skill. Throws when a path leads elsewhere from outside of
 * any skill, or when there are files and none is a SKILL.md.
 */
export function findSkillFolders(paths: readonly string[]): SkillFolders {
  const files = paths.map(withSlashes).filter((path) => !isNoise(path))
  const found = new Map<string, SkillFolder>()
  for (const path of files) {
    const folder = folderOf(path)
    const parts = path.split('/')
    if (!isSkillMd(parts.at(-1) ?? '') || parts.length > MAX_DEPTH) continue
    if (!found.has(folder)) found.set(folder, { folder, path, count: 0 })
  }

  const top = (path: string): SkillFolder | undefined => {
    for (const folder of foldersAbove(path)) {
      const skill = found.get(folder)
      if (skill) return skill
    }
    return undefined
  }
  const find: SkillFolders['find'] = (written) => {
    const path = withSlashes(written)
    const folder = isNoise(path) ? undefined : top(path)
    return folder && { folder, path: folder.folder ? path.slice(folder.folder.length + 1) : path }
  }

  const skipped: string[] = []
  for (const path of paths) {
    const place = find(path)
    if (place) place.folder.count += 1
    else skipped.push(path)
  }
  const folders = [...found.values()].filter(({ count }) => count > 0)
  const skillMds = folders.map(({ path }) => path)
  refuseEscapes([...skipped, ...skillMds])
  refuseFolders(skillMds)
  if (found.size === 0 && files.length > 0) {
    throw new AppError('archive_no_skill', 'There is no SKILL.md in the archive.')
  }
  return {
    folders: folders.sort((a, b) => (a.folder < b.folder ? -1 : 1)),
    find,
    skipped: skipped.map((path) => path.slice(0, 255).toWellFormed()),
  }
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** From the root downwards. */
function* foldersAbove(path: string): Generator<string> {
  yield ''
  let depth = 1
  for (let at = path.indexOf('/'); at >= 0 && depth < MAX_DEPTH; at = path.indexOf('/', at + 1)) {
    yield path.slice(0, at)
    depth += 1
  }
}
