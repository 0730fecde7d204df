import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BundleLimits } from '../domain/bundle.ts'
import type { BundleFile } from '../domain/skill.ts'
import { EXIT, Failure } from './failure.ts'
import { readSkill } from './read-skill.ts'

/** How a folder is made to hold a skill. */
interface Writing {
  limits: BundleLimits
  /** Whether what was changed there is lost. */
  force: boolean
}

export type Written = 'created' | 'updated' | 'unchanged'

/**
 * Makes a folder hold exactly these files, but for what no skill holds. Throws, and leaves it as it
 * is, when it holds something else and that is not to be lost.
 */
export async function writeFolder(
  folder: string,
  files: readonly BundleFile[],
  { limits, force }: Writing,
): Promise<Written> {
  const before = await filesIn(folder, limits)
  const same = (file: BundleFile) => before?.get(file.path)?.equals(file.bytes)
  if (before && before.size === files.length && files.every(same)) return 'unchanged'
  if (before && before.size > 0 && !force) {
    const what = `${folder} holds something else: --force replaces it.`
    throw new Failure(EXIT.found, what)
  }
  const wanted = new Set(files.map(({ path }) => path))
  for (const path of before?.keys() ?? []) if (!wanted.has(path)) await rm(join(folder, path))
  for (const file of files) {
    const path = join(folder, file.path)
    await mkdir(dirname(path), { recursive: true })
    if (!same(file)) await writeFile(path, file.bytes)
  }
  return before ? 'updated' : 'created'
}

/** Throws where there is something that could lead a write elsewhere. */
async function filesIn(folder: string, limits: BundleLimits) {
  const found = await stat(folder).catch(() => undefined)
  if (!found) return undefined
  if (!found.isDirectory()) throw new Failure(EXIT.found, `${folder} is there, and is no folder.`)
  const place = {
    kind: 'folder',
    path: folder,
    skillMd: join(folder, 'SKILL.md'),
    name: '',
  } as const
  const { files, faults } = await readSkill(place, limits)
  const [fault] = faults
  if (fault) throw new Failure(EXIT.found, `${fault.file ?? folder}: ${fault.message}`)
  return new Map(files.map(({ path, bytes }) => [path, Buffer.from(bytes)]))
}
