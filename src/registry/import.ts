import { setImmediate } from 'node:timers/promises'
import type { Mode } from '../domain/diagnostics.ts'
import { showPath } from '../domain/show-path.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError, type Fault } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import type { Archive, ArchiveFile } from './archives/archive.ts'
import { findSkillFolders, type SkillFolder } from './archives/skill-folders.ts'
import type { ReadSkill } from './read-upload.ts'
import type { Manner, Registry } from './registry.ts'

/** What became of one skill of an import; with a rehearsal, what would have. */
export interface ImportedSkill {
  /** Of its SKILL.md in the archive. */
  path: string
  /** Null where it could not be told. */
  name: string | null
  status: 'created' | 'updated' | 'unchanged' | 'failed'
  errors: Fault[]
  warnings: Fault[]
}

type Outcome = Exclude<ImportedSkill['status'], 'failed'>

interface Options {
  registry: Pick<Registry, 'check' | 'store'>
  skills: Pick<SkillStore, 'find'>
  mode: Mode
  manner: Manner
  /** Store nothing. */
  rehearsal: boolean
}

export interface Import {
  /** The files that belong to no skill. */
  skipped: string[]
  /** Stores one skill after the other as they are asked for, in code-point order of the folders. */
  results(): AsyncGenerator<ImportedSkill, void>
}

/**
 * Reads many skills from one archive. Throws when that has to be refused as a whole; a skill that
 * is refused alone stops no other, and neither does a damaged file, which fails the one it is of.
 */
export function openImport(archive: Archive, options: Options): Import {
  const { folders, find, skipped } = findSkillFolders(archive.entries.map(({ path }) => path))
  const { registry } = options
  const pathsByName = new Map<string, string>()

  return {
    skipped,
    async *results() {
      for await (const collected of collect(archive, folders, find)) {
        yield await take(collected)
        await setImmediate()
      }
    },
  }

  async function take({
    folder: { folder, path },
    files,
    faults,
  }: Collected): Promise<ImportedSkill> {
    const fail = (errors: Fault[], warnings: Fault[] = [], name: string | null = null) =>
      ({ path, name, status: 'failed', errors, warnings }) as const
    if (faults.length > 0) return fail(faults.flatMap(faultsOf))

    const upload = { files, mode: options.mode, folder: folder.split('/').at(-1) || undefined }
    const { skill, errors, warnings } = await registry.check(upload)
    if (!skill) return fail(errors, warnings)
    const { name } = skill
    const other = pathsByName.get(name)
    if (other !== undefined) return fail([nameConflict(name, other)], warnings, name)
    pathsByName.set(name, path)
    try {
      return { path, name, status: await store(skill), errors: [], warnings }
    } catch (error) {
      return fail(faultsOf(refusalOf(error)), warnings, name)
    }
  }

  async function store(skill: ReadSkill): Promise<Outcome> {
    if (!options.rehearsal) return (await registry.store(skill, options.manner)).outcome
    const { name, digest } = skill
    const current = await options.skills.find(name)
    if (!current) return 'created'
    return current.version !== null && current.digest === digest ? 'unchanged' : 'updated'
  }
}

interface Collected {
  folder: SkillFolder
  files: BundleFile[]
  /** Why they are not all there. */
  faults: AppError[]
}

/** The files of each folder, in the order of the folders, as soon as they are complete. */
async function* collect(
  archive: Archive,
  folders: readonly SkillFolder[],
  find: ReturnType<typeof findSkillFolders>['find'],
): AsyncGenerator<Collected, void> {
  const waiting = new Map(
    folders.map((folder) => {
      const collected: Collected = { folder, files: [], faults: [] }
      return [folder, { collected, missing: folder.count }]
    }),
  )
  function* complete(fault?: AppError): Generator<Collected> {
    for (const [folder, { collected, missing }] of waiting) {
      if (missing > 0 && !fault) return
      waiting.delete(folder)
      if (missing > 0 && fault) collected.faults.push(fault)
      yield collected
    }
  }

  const files = archive.files()[Symbol.asyncIterator]()
  try {
    while (waiting.size > 0) {
      const next = await read(files)
      if (next instanceof AppError) return yield* complete(next)
      const place = find(next.path)
      const awaited = place && waiting.get(place.folder)
      if (!place || !awaited) continue
      awaited.missing -= 1
      if (next.fault) awaited.collected.faults.push(next.fault)
      else awaited.collected.files.push({ path: place.path, bytes: next.bytes })
      // What cannot be stored need not be kept.
      if (awaited.collected.faults.length > 0) awaited.collected.files.length = 0
      yield* complete()
    }
  } finally {
    await files.return?.()
  }
}

type Files = AsyncIterator<ArchiveFile>

/** The next file; what is wrong with the archive is a value, for some skills may be whole. */
async function read(files: Files): Promise<ArchiveFile | AppError> {
  try {
    const { value, done } = await files.next()
    return done ? new AppError('archive_corrupt', 'The archive ends too early.') : value
  } catch (error) {
    return refusalOf(error)
  }
}

/** What a caller is told; anything else is a failure of ours, which ends the import. */
function refusalOf(error: unknown): AppError {
  if (error instanceof AppError && error.status < 500) return error
  throw error
}

const faultsOf = ({ code, message, errors }: AppError): Fault[] => errors ?? [{ code, message }]

const nameConflict = (name: string, other: string): Fault => ({
  code: 'name_conflict',
  message: `SKILL.md: the skill at "${showPath(other)}" is named "${name}" too: rename one of them.`,
  file: 'SKILL.md',
  field: 'name',
})
