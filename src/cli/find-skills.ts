import type { Dirent } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { isNoise, isSkillMd } from '../domain/bundle.ts'
import { type ArchiveFormat, formatOf } from '../registry/archives/archive.ts'
import { usageFailure } from './failure.ts'

/** Where a skill lies: a folder with all that is in it, or one file alone. */
export interface SkillPlace {
  kind: 'folder' | 'file'
  /** Of the folder or of the file, as people see it. */
  path: string
  /** Of its SKILL.md, as people see it. */
  skillMd: string
  /** What it may be named for. */
  name: string
}

interface ArchivePlace {
  kind: 'archive'
  path: string
  format: ArchiveFormat
}

export type Place = SkillPlace | ArchivePlace

/** Skills of other people. */
const PASSED_OVER = new Set(['node_modules'])

/**
 * What paths hold: every skill of a folder, also in folders that begin with a dot; a file named
 * SKILL.md stands for its folder. A folder inside a skill belongs to that skill.
 */
export async function findPlaces(paths: readonly string[]): Promise<Place[]> {
  const found = new Map<string, Place>()
  for (const path of paths) {
    const places = await placesAt(path)
    for (const place of places) found.set(resolve(place.path), place)
  }
  return [...found.values()]
}

async function placesAt(path: string): Promise<Place[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw usageFailure(`There is no ${JSON.stringify(path)}.`)
  if (found.isDirectory()) {
    const places = await skillsBelow(path)
    if (places.length === 0) throw usageFailure(`There is no SKILL.md in ${JSON.stringify(path)}.`)
    return places
  }
  if (!found.isFile()) throw usageFailure(`${JSON.stringify(path)} is neither a file nor a folder.`)
  const format = await archiveFormat(path)
  if (format) return [{ kind: 'archive', path: shown(path), format }]
  const name = basename(path)
  if (isSkillMd(name)) return [folderPlace(dirname(path), name)]
  return [
    { kind: 'file', path: shown(path), skillMd: shown(path), name: basename(path, extname(path)) },
  ]
}

async function skillsBelow(folder: string): Promise<SkillPlace[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const skillMd = findSkillMd(entries)
  if (skillMd !== undefined) return [folderPlace(folder, skillMd)]
  const places: SkillPlace[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory() || isNoise(entry.name) || PASSED_OVER.has(entry.name)) continue
    places.push(...(await skillsBelow(join(folder, entry.name))))
  }
  return places
}

function findSkillMd(entries: readonly Dirent[]): string | undefined {
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  return names.find((name) => name === 'SKILL.md') ?? names.find(isSkillMd)
}

const folderPlace = (folder: string, skillMd: string): SkillPlace => ({
  kind: 'folder',
  path: shown(folder),
  skillMd: shown(join(folder, skillMd)),
  name: basename(resolve(folder)),
})

/** As an editor opens it from where the command runs. */
function shown(path: string): string {
  const fromHere = relative('', path)
  return fromHere.startsWith('..') ? path : fromHere || '.'
}

/** By its first bytes, whatever its name. */
async function archiveFormat(path: string): Promise<ArchiveFormat | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return formatOf(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}
