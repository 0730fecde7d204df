import { createHash } from 'node:crypto'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { FileEntry, SkillStore, SkillSummary } from '../store/skills.ts'

const PAGE = 100

/** The versions that an export holds: they never change, so that it is of one moment. */
export interface ExportPlan {
  skills: { name: string; version: number }[]
  /** Of the names and digests; the same when the same is in it. */
  digest: string
  files: number
  bytes: number
}

/**
 * Every skill that has a current version. One that has none was never put to use; an import would
 * make it current.
 */
export async function planExport(skills: Pick<SkillStore, 'list'>): Promise<ExportPlan> {
  const hash = createHash('sha256')
  const plan: ExportPlan = { skills: [], digest: '', files: 0, bytes: 0 }
  for await (const { name, version, digest, fileCount, size } of allSkills(skills)) {
    if (version === null) continue
    hash.update(`${digest}  ${name}\n`)
    plan.skills.push({ name, version })
    plan.files += fileCount
    plan.bytes += size
  }
  return { ...plan, digest: `sha256:${hash.digest('hex')}` }
}

async function* allSkills({ list }: Pick<SkillStore, 'list'>): AsyncGenerator<SkillSummary> {
  let after: string | undefined
  do {
    const place = after === undefined ? {} : { after }
    const page: SkillSummary[] = await list({ sort: 'name', limit: PAGE, ...place })
    yield* page
    after = page.length === PAGE ? page.at(-1)?.name : undefined
  } while (after !== undefined)
}

type Reads = Pick<SkillStore, 'findVersion' | 'readFile'>

/** The files of an export, a folder for each skill; without what was deleted in the meantime. */
export async function* exportedFiles(
  skills: Reads,
  { skills: planned }: ExportPlan,
): AsyncGenerator<BundleFile> {
  for (const { name, version } of planned) {
    const found = await skills.findVersion(name, version)
    if (found) yield* filesInFolder(skills, found, version)
  }
}

/** The files of one version, one at a time, in the folder that is named for the skill. */
export async function* filesInFolder(
  skills: Pick<SkillStore, 'readFile'>,
  { name, files }: { name: string; files: readonly FileEntry[] },
  version: number,
): AsyncGenerator<BundleFile> {
  for (const { path } of files) {
    const file = await skills.readFile(name, path, version)
    if (!file) throw new AppError('file_not_found', `"${name}" was deleted in the meantime.`)
    yield { path: `${name}/${path}`, bytes: file.bytes }
  }
}
