import { constants } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { BundleLimits } from '../domain/bundle.ts'
import type { BundleFile } from '../domain/skill.ts'

/** A path of the skills directory that was left out. */
export interface SkippedPath {
  path: string
  code: string
  reason: string
}

export interface ReadFolder {
  /** `absent`: there is no SKILL.md, or no folder; `unreadable`: there is one that cannot be read. */
  state: 'read' | 'absent' | 'unreadable'
  files: BundleFile[]
  skipped: SkippedPath[]
}

/** The folders of the directory that may hold a skill, in code-point order. */
export async function listFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(ifMissing([]))
  return entries
    .filter((entry) => !entry.isFile() && !isHidden(entry.name))
    .map(({ name }) => name)
    .sort()
}

/**
 * The files of one skill folder, without what begins with a dot. Links are followed to files
 * inside the directory only, as Kubernetes mounts them; special files are not opened.
 */
export async function readFolder(
  root: string,
  folder: string,
  limits: BundleLimits,
): Promise<ReadFolder> {
  const base = await realpath(root).catch(ifMissing(undefined))
  const files: BundleFile[] = []
  const skipped: SkippedPath[] = []
  const skip = (path: string, code: string, reason: string) => skipped.push({ path, code, reason })

  async function take(path: string): Promise<void> {
    const shown = path.replaceAll(sep, '/')
    const stat = await lstat(join(root, path)).catch(ifMissing(undefined))
    if (!stat || !base) return
    if (stat.isDirectory()) {
      if (!isSkillMd(shown.slice(folder.length + 1))) return walk(path)
      skip(shown, 'archive_link', 'it is a folder')
      return
    }
    const target = stat.isSymbolicLink()
      ? await realpath(join(root, path)).catch(() => '')
      : join(base, path)
    if (!target.startsWith(base + sep)) {
      skip(shown, 'archive_link', 'it is a link that leaves the directory, or leads nowhere')
      return
    }
    try {
      const most = Math.max(limits.fileBytes, limits.skillBytes)
      const { bytes, fault } = await readRegularFile(target, most)
      if (fault) skip(shown, ...fault)
      else files.push({ path: shown.slice(folder.length + 1), bytes })
    } catch (error) {
      skip(shown, 'file_unreadable', `it cannot be read (${codeOf(error)})`)
    }
  }

  async function walk(path: string): Promise<void> {
    for (const name of (await readdir(join(root, path)).catch(ifMissing([]))).sort()) {
      if (isHidden(name)) continue
      // One more than allowed is enough for the bundle to be refused with its number.
      if (files.length > limits.files) return
      await take(join(path, name))
    }
  }

  if ((await lstat(join(root, folder)).catch(ifMissing(undefined)))?.isSymbolicLink()) {
    skip(folder, 'archive_link', 'it is a link: put the folder itself here')
    return { state: 'unreadable', files, skipped }
  }
  const names = await readdir(join(root, folder)).catch(ifMissing([]))
  if (!names.some(isSkillMd)) return { state: 'absent', files, skipped }
  await walk(folder)
  const found = files.some(({ path }) => isSkillMd(path))
  return { state: found ? 'read' : 'unreadable', files, skipped }
}

type Read =
  | { bytes: Uint8Array; fault?: undefined }
  | { bytes?: undefined; fault: [code: string, reason: string] }

async function readRegularFile(path: string, maxBytes: number): Promise<Read> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { fault: ['archive_link', 'it is a special file'] }
    if (stat.size > maxBytes) {
      const sizes = `it has ${stat.size} bytes, of ${maxBytes} allowed`
      return { fault: ['archive_too_large', sizes] }
    }
    return { bytes: await file.readFile() }
  } finally {
    await file.close()
  }
}

const isSkillMd = (path: string): boolean => path.toLowerCase() === 'skill.md'

const isHidden = (name: string): boolean => name.startsWith('.')

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown'

/** For what may vanish while it is looked at. */
const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return value
    throw error
  }
