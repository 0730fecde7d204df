import { ok } from 'node:assert/strict'
import type { BundleFile } from '../../../src/domain/skill.ts'
import type { Archive } from '../../../src/registry/archives/archive.ts'

/** The files of an archive that has no faulty entries. */
export async function readAll(archive: Archive): Promise<BundleFile[]> {
  const files: BundleFile[] = []
  for await (const { path, bytes } of archive.files()) {
    ok(bytes, path)
    files.push({ path, bytes })
  }
  return files
}
