import { AppError, type Fault } from '../errors.ts'
import { showPath as show } from './show-path.ts'
import type { BundleFile } from './skill.ts'

/** In bytes, except for `files` and `depth`. */
export interface BundleLimits {
  skillBytes: number
  fileBytes: number
  bundleBytes: number
  files: number
}

const MAX_DEPTH = 16
const MAX_PATH_BYTES = 255
const SKILL_MD = 'SKILL.md'

export interface Bundle {
  /** SKILL.md first, then the others in code-point order. */
  files: [BundleFile, ...BundleFile[]]
  /** The one top folder that everything stood in, else null. */
  folder: string | null
  /** How the SKILL.md was written, when not in capitals. */
  writtenAs: string | null
  /** What file managers and version control leave behind, left out. */
  skipped: string[]
}

/** Paths as they are stored: relative, with `/`, from the folder of the SKILL.md (api.md 2). */
export function readBundle(given: readonly BundleFile[], limits: BundleLimits): Bundle {
  const faults: Fault[] = []
  const skipped: string[] = []
  const files: BundleFile[] = []
  for (const { path: written, bytes } of given) {
    const path = withSlashes(written)
    const wrong = wrongWith(path)
    if (wrong) faults.push(pathFault(written, wrong))
    else if (isNoise(path)) skipped.push(written)
    else files.push({ path, bytes })
  }
  throwFaults('archive_path', faults)

  const { folder, skillMd } = findSkill(files)
  const inside =
    folder === null
      ? files
      : files.map(({ path, bytes }) => ({ path: path.slice(folder.length + 1), bytes }))
  const base = skillMd.path.slice(folder === null ? 0 : folder.length + 1)
  const others = inside.filter(({ path }) => path !== base).sort(byPath)
  const all: [BundleFile, ...BundleFile[]] = [{ path: SKILL_MD, bytes: skillMd.bytes }, ...others]
  throwFaults('archive_duplicate', findDuplicates(all))
  checkSizes(all, limits)
  return { files: all, folder, writtenAs: base === SKILL_MD ? null : base, skipped }
}

/** A path as it is judged and stored. */
export const withSlashes = (path: string): string =>
  path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')

const byPath = (a: BundleFile, b: BundleFile): number => (a.path < b.path ? -1 : 1)

/** What is wrong with a path that leads elsewhere. */
function escapeOf(path: string): string | undefined {
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is not a relative path'
  return /(?:^|\/)\.\.(?:\/|$)/.test(path) ? 'leaves the bundle with ".."' : undefined
}

/** What is wrong with a path that cannot be said on one line. */
function unspeakableOf(path: string): string | undefined {
  if (/\p{Cc}/u.test(path)) return 'holds a control character'
  return path.split('/').includes('') ? 'has an empty part' : undefined
}

function wrongWith(path: string): string | undefined {
  const wrong = escapeOf(path) ?? unspeakableOf(path)
  if (wrong) return wrong
  const segments = path.split('/')
  if (segments.length > MAX_DEPTH) return `is more than ${MAX_DEPTH} folders deep`
  if (!path.isWellFormed()) return 'holds half of a character'
  const size = new TextEncoder().encode(path).length
  if (size > MAX_PATH_BYTES) return `has ${size} bytes, of ${MAX_PATH_BYTES} allowed`
  return undefined
}

const pathFault = (path: string, wrong: string): Fault => ({
  code: 'archive_path',
  message: `"${show(path)}" ${wrong}.`,
  file: show(path),
})

/** Throws, with every such path, when paths lead elsewhere. */
export const refuseEscapes = (paths: readonly string[]): void => refuseWhere(escapeOf, paths)

/** As `refuseEscapes`, for the folders that bundles lie in, which may be of any depth. */
export const refuseFolders = (paths: readonly string[]): void => refuseWhere(unspeakableOf, paths)

function refuseWhere(wrongOf: typeof escapeOf, paths: readonly string[]): void {
  const faults = paths.flatMap((path) => {
    const wrong = wrongOf(withSlashes(path))
    return wrong ? [pathFault(path, wrong)] : []
  })
  throwFaults('archive_path', faults)
}

const NOISE = new Set(['__MACOSX', '.git', '.DS_Store', 'Thumbs.db'])
export const isNoise = (path: string): boolean =>
  path.split('/').some((segment) => NOISE.has(segment) || segment.startsWith('._'))

export const isSkillMd = (path: string): boolean => path.toLowerCase() === 'skill.md'

/** At the root, or in the one top folder; a deeper SKILL.md is a file like others. */
function findSkill(files: readonly BundleFile[]): { folder: string | null; skillMd: BundleFile } {
  const atRoot =
    files.find(({ path }) => path === SKILL_MD) ?? files.find(({ path }) => isSkillMd(path))
  if (atRoot) return { folder: null, skillMd: atRoot }
  const tops = files.filter(
    ({ path }) => path.split('/').length === 2 && isSkillMd(path.split('/')[1] ?? ''),
  )
  const folders = new Set(files.map(({ path }) => path.split('/')[0] ?? ''))
  const [top] = tops
  if (top && folders.size === 1) return { folder: top.path.split('/')[0] ?? '', skillMd: top }

  const all = files.filter(({ path }) => isSkillMd(path.split('/').at(-1) ?? ''))
  if (all.length > 1) {
    const paths = all.map(({ path }) => path)
    const errors = paths.map((file) => ({
      code: 'archive_many_skills',
      message: `There is a skill at "${file}".`,
      file,
    }))
    throw new AppError(
      'archive_many_skills',
      `There are several skills: ${paths.slice(0, 20).join(', ')}. Import them, or send one.`,
      { errors },
    )
  }
  throw new AppError(
    'archive_no_skill',
    'There is no SKILL.md at the root or in the one top folder.',
  )
}

/** File systems fold case and compose characters: what differs in that alone would overwrite. */
function findDuplicates(files: readonly BundleFile[]): Fault[] {
  const faults: Fault[] = []
  const seen = new Map<string, 'file' | 'folder'>()
  const fold = (path: string) => path.normalize('NFC').toLowerCase()
  for (const { path } of files) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const folder = fold(path.slice(0, at))
      if (seen.get(folder) === 'file') faults.push(duplicate(path, 'is a file and a folder'))
      seen.set(folder, 'folder')
    }
    const key = fold(path)
    if (seen.has(key)) faults.push(duplicate(path, 'is there twice, but for case or composition'))
    seen.set(key, 'file')
  }
  return faults
}

const duplicate = (path: string, what: string): Fault => ({
  code: 'archive_duplicate',
  message: `"${show(path)}" ${what}.`,
  file: show(path),
})

function checkSizes(files: Bundle['files'], limits: BundleLimits): void {
  const [{ bytes }, ...others] = files
  if (bytes.length > limits.skillBytes) {
    throw new AppError(
      'skill_too_large',
      `SKILL.md has ${bytes.length} bytes, of ${limits.skillBytes} allowed.`,
    )
  }
  if (files.length > limits.files) {
    throw new AppError(
      'archive_too_large',
      `The bundle has ${files.length} files, of ${limits.files} allowed.`,
    )
  }
  let total = bytes.length
  for (const file of others) {
    total += file.bytes.length
    if (file.bytes.length > limits.fileBytes) {
      throw new AppError(
        'archive_too_large',
        `"${show(file.path)}" has ${file.bytes.length} bytes, of ${limits.fileBytes} allowed.`,
      )
    }
  }
  if (total > limits.bundleBytes) {
    throw new AppError(
      'archive_too_large',
      `The files have ${total} bytes together, of ${limits.bundleBytes} allowed.`,
    )
  }
}

function throwFaults(code: 'archive_path' | 'archive_duplicate', errors: Fault[]): void {
  const [first] = errors
  if (first) throw new AppError(code, first.message, { errors })
}
