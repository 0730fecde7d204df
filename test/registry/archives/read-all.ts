import type { BundleFile } from '../../../src/domain/skill.ts'
import type { Archive } from '../../../src/registry/archives/archive.ts'

export async function readAll(archive: Archive): Promise<BundleFile[]> {
  const files: BundleFile[] = []
  for await (const file of archive.files()) files.push(file)
  return files
}
