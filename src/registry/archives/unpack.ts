import type { BundleLimits } from '../../domain/bundle.ts'
import type { BundleFile } from '../../domain/skill.ts'
import type { Packed } from './archive.ts'
import { readArchive } from './read-archive.ts'

/** Room for folders, and for what file managers add to each file. */
const ENTRIES_PER_FILE = 4

/** The files of an archive that holds one skill. */
export async function unpack(
  { bytes, format }: Packed,
  { files, bundleBytes }: BundleLimits,
): Promise<BundleFile[]> {
  const limits = { entries: files * ENTRIES_PER_FILE, bytes: bundleBytes }
  const archive = await readArchive(bytes, format, limits)
  const unpacked: BundleFile[] = []
  for await (const { path, bytes, fault } of archive.files()) {
    if (fault) throw fault
    unpacked.push({ path, bytes })
  }
  return unpacked
}
