import type { Archive, ArchiveFormat, ArchiveLimits } from './archive.ts'
import { readTgz } from './read-tgz.ts'
import { readZip } from './read-zip.ts'

/** Reads the table of contents. Throws an AppError `archive_…` for what may not be unpacked. */
export const readArchive = (
  bytes: Buffer,
  format: ArchiveFormat,
  limits: ArchiveLimits,
): Promise<Archive> => (format === 'zip' ? readZip(bytes, limits) : readTgz(bytes, limits))
