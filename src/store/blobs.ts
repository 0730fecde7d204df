import type { Kysely, Transaction } from 'kysely'
import { chunks } from './chunks.ts'
import type { NewFile } from './skills.ts'
import type { Tables } from './tables.ts'

export async function storeFiles(
  trx: Transaction<Tables>,
  versionSeq: number,
  files: NewFile[],
): Promise<void> {
  for (const chunk of chunks(files)) {
    const stored = await trx
      .selectFrom('blobs')
      .select('sha256')
      .where('sha256', 'in', hashes(chunk))
      .execute()
    const known = new Set(stored.map(({ sha256 }) => sha256))
    for (const { sha256, bytes } of chunk) {
      if (known.has(sha256)) continue
      known.add(sha256)
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      await trx.insertInto('blobs').values({ sha256, bytes: buffer }).execute()
    }
    const rows = chunk.map(({ path, sha256, size, mediaType }) => ({
      version: versionSeq,
      path,
      sha256,
      size,
      media_type: mediaType,
    }))
    await trx.insertInto('skill_files').values(rows).execute()
  }
}

/** The hashes of a skill's files, or those of one version. */
export async function blobsOf(
  db: Kysely<Tables>,
  skillSeq: number,
  version?: number,
): Promise<{ sha256: string }[]> {
  let query = db
    .selectFrom('skill_files')
    .innerJoin('skill_versions', 'skill_versions.seq', 'skill_files.version')
    .select('sha256')
    .distinct()
    .where('skill', '=', skillSeq)
  if (version !== undefined) query = query.where('skill_versions.version', '=', version)
  return await query.execute()
}

/** Removes those that no version refers to any more. */
export async function sweepBlobs(
  trx: Transaction<Tables>,
  candidates: { sha256: string }[],
): Promise<void> {
  for (const chunk of chunks(candidates)) {
    await trx
      .deleteFrom('blobs')
      .where('sha256', 'in', hashes(chunk))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('skill_files')
              .select('path')
              .whereRef('skill_files.sha256', '=', 'blobs.sha256'),
          ),
        ),
      )
      .execute()
  }
}

const hashes = (items: { sha256: string }[]): string[] => items.map(({ sha256 }) => sha256)
