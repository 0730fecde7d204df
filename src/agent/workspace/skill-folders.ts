import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { SkillStore, Version } from '../../store/skills.ts'
import type { LoadMark } from '../loads.ts'

const SCRIPT_NAME = /\.(?:sh|bash|py|pl|rb|js|mjs)$/
const SHEBANG = Buffer.from('#!')
const DIGEST_LENGTH = 16

type Skills = Pick<SkillStore, 'findVersion' | 'readFile'>
type Loads = ReadonlyMap<string, Pick<LoadMark, 'version' | 'digest'>>

/**
 * The folders that hold the files of loaded skills, by the skills' names. Each version is written
 * once, and never changed. A version that is no longer stored has none.
 */
export function createSkillFolders(root: string, skills: Skills) {
  return async function skillFolders(loads: Loads): Promise<Map<string, string>> {
    const folders = new Map<string, string>()
    for (const [name, { version, digest }] of loads) {
      const folder = join(
        root,
        `${name}@${version}-${digest.split(':').at(-1)?.slice(0, DIGEST_LENGTH)}`,
      )
      if (await isThere(folder)) folders.set(name, folder)
      else {
        const found = await skills.findVersion(name, version)
        if (found?.digest !== digest) continue
        await writeOnce(folder, (to) => writeFiles(to, name, found, skills))
        folders.set(name, folder)
      }
    }
    return folders
  }
}

async function writeFiles(
  folder: string,
  name: string,
  { version, files }: Version,
  skills: Skills,
) {
  for (const { path } of files) {
    const target = join(folder, path)
    const file = await skills.readFile(name, path, version)
    if (!file || !target.startsWith(folder + sep)) continue
    const isScript = SCRIPT_NAME.test(path) || SHEBANG.equals(file.bytes.subarray(0, 2))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, file.bytes, { flag: 'wx' })
    await chmod(target, isScript ? 0o755 : 0o644)
  }
  await openToAll(folder)
}

/** Whoever runs the commands has to read them, whatever the umask of the service says. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openToAll(join(folder, entry.name))
  }
}

/** A folder is there whole or not at all, whoever else writes it at the same time. */
async function writeOnce(folder: string, write: (folder: string) => Promise<void>): Promise<void> {
  const unfinished = join(dirname(folder), `.${randomUUID()}`)
  await mkdir(unfinished, { recursive: true })
  try {
    await write(unfinished)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!(await isThere(folder))) throw error
  }
}

const isThere = async (folder: string): Promise<boolean> =>
  (await stat(folder).catch(() => undefined)) !== undefined
