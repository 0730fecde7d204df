import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK = 512
/** What an entry counts at least, so that a million empty files are not free. */
const ENTRY = 4096

/** The bytes that a folder takes on the disk; counting ends when they pass `limit`. */
export async function folderSize(folder: string, limit: number): Promise<number> {
  let size = 0
  const folders = [folder]
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    for await (const entry of entriesOf(current)) {
      const path = join(current, entry.name)
      if (entry.isDirectory()) folders.push(path)
      size += Math.max(ENTRY, await bytesOf(path))
      if (size > limit) return size
    }
  }
  return size
}

const bytesOf = async (path: string): Promise<number> => {
  const found = await lstat(path).catch(() => undefined)
  return (found?.blocks ?? 0) * BLOCK
}

/** A folder that vanishes or cannot be read has none: commands change it meanwhile. */
export async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder)
  } catch {
    return
  }
}
