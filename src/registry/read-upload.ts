import { createHash } from 'node:crypto'
import mime from 'mime'
import { type Bundle, type BundleLimits, readBundle } from '../domain/bundle.ts'
import { catalogLineTokens } from '../domain/catalog.ts'
import { Diagnostics, type Mode } from '../domain/diagnostics.ts'
import { excerpt } from '../domain/excerpt.ts'
import { lintFiles } from '../domain/lints/files.ts'
import type { BundleFile, Skill } from '../domain/skill.ts'
import { parseSkillMd, type Surroundings } from '../domain/skill-md.ts'
import { estimateTokens } from '../domain/tokens.ts'
import { AppError } from '../errors.ts'
import type { NewFile, Publication } from '../store/skills.ts'

/** What somebody hands in as one skill, before anything is known of it. */
export interface Upload {
  files: readonly BundleFile[]
  mode: Mode
  /** The name to fall back to, or that the file has to agree with (`?name=`). */
  name?: string | undefined
  /** The name that the path says. */
  expectedName?: string | undefined
  /** The folder it lies in, in the skills directory. */
  folder?: string | undefined
  /** Whether a top folder has to be named as the skill is, but for case and `_` for `-`. */
  folderIsName?: boolean
}

/** A skill that may be stored. */
export interface ReadSkill
  extends Omit<
    Publication,
    | 'source'
    | 'note'
    | 'by'
    | 'createOnly'
    | 'activate'
    | 'unchangedIf'
    | 'displayName'
    | 'into'
    | 'enabled'
    | 'precondition'
  > {
  skipped: string[]
}

/** What the service allows, and what it has. */
interface Service {
  limits: BundleLimits
  /** The names of its own tools. */
  tools: readonly string[]
}

/**
 * Reads and checks an upload; the one way from bytes to a skill. Throws an AppError with every
 * fault found; `diagnostics` then still holds the warnings.
 */
export function readUpload(
  upload: Upload,
  { limits, tools }: Service,
  diagnostics = new Diagnostics('SKILL.md', upload.mode),
): ReadSkill {
  const bundle = readBundle(upload.files, limits)
  if (bundle.writtenAs !== null) {
    diagnostics.warn('file_name_case', `the file is named "${bundle.writtenAs}": name it SKILL.md.`)
  }
  const skill = parse(bundle.files, diagnostics, {
    name: upload.name,
    expectedName: upload.expectedName,
    folder: upload.folder ?? bundle.folder ?? undefined,
    paths: bundle.files.map(({ path }) => path),
    tools,
  })
  if (upload.folderIsName && bundle.folder !== null) refuseOther(bundle.folder, skill.name)
  const files = bundle.files.map(toNewFile)
  return {
    ...skill,
    files,
    digest: digestOf(files),
    tokens: { catalog: catalogLineTokens(skill), body: estimateTokens(skill.body) },
    warnings: diagnostics.warnings,
    skipped: bundle.skipped,
  }
}

function refuseOther(folder: string, name: string): void {
  if (folder.toLowerCase().replaceAll('_', '-') === name) return
  const what = `The name is "${name}", but the folder is ${excerpt(folder)}: make them equal.`
  throw new AppError('name_mismatch', what)
}

/** Lints the other files also when their SKILL.md is refused. */
function parse(
  [skillMd, ...others]: Bundle['files'],
  diagnostics: Diagnostics,
  surroundings: Surroundings,
): Skill {
  try {
    return parseSkillMd(skillMd.bytes, diagnostics, surroundings)
  } finally {
    lintFiles(others, diagnostics)
  }
}

const sha256 = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex')

const toNewFile = ({ path, bytes }: BundleFile): NewFile => ({
  path,
  bytes,
  sha256: sha256(bytes),
  size: bytes.length,
  mediaType: mime.getType(path) ?? 'application/octet-stream',
})

/**
 * Of one file, its own SHA-256. Of a bundle, that of its manifest: a line `<sha256>  <path>` for
 * each file in code-point order of the paths, as sha256sum prints them.
 */
function digestOf(files: readonly NewFile[]): string {
  const [first, ...others] = files
  if (first && others.length === 0) return `sha256:${first.sha256}`
  const lines = files
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ sha256, path }) => `${sha256}  ${path}\n`)
  return `sha256:${sha256(lines.join(''))}`
}
