import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { AppError } from '../../errors.ts'
import {
  type Archive,
  type ArchiveEntry,
  type ArchiveLimits,
  Budget,
  refuse,
  tooLarge,
} from './archive.ts'

interface ZipEntry extends ArchiveEntry {
  entry: Entry
}

/** What the directory says is checked before anything inflates, and held to while it does. */
export async function readZip(bytes: Buffer, limits: ArchiveLimits): Promise<Archive> {
  const zip = await open(bytes)
  if (zip.entryCount > limits.entries) {
    throw tooLarge(`${zip.entryCount} entries, of ${limits.entries} allowed`)
  }
  const entries = await list(zip, new Budget(limits, bytes.length))

  async function* files() {
    for (const entry of entries) {
      yield { path: entry.path, bytes: await inflate(bytes, zip, entry) }
    }
  }
  return { entries, files }
}

async function open(bytes: Buffer): Promise<ZipFile> {
  try {
    return await fromBufferPromise(bytes, {
      lazyEntries: true,
      autoClose: false,
      decodeStrings: false,
      // Checked here, where an encrypted file is known for what it is.
      validateEntrySizes: false,
    })
  } catch (error) {
    throw corrupt(error)
  }
}

async function list(zip: ZipFile, budget: Budget): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      budget.takeEntry()
      const path = decodeName(entry)
      const kind = kindOf(entry)
      if (kind === 'special') throw refuse('archive_link', 'is a link or a special file', path)
      if (kind === 'folder' || path.endsWith('/')) continue
      if (entry.isEncrypted()) throw refuse('archive_encrypted', 'is encrypted', path)
      budget.takeBytes(entry.uncompressedSize)
      entries.push({ path, entry })
    }
  } catch (error) {
    throw corrupt(error)
  }
  return entries
}

const TYPE = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000

/** By the mode of Unix, whatever system the archive says it is from. */
function kindOf({ externalFileAttributes }: Entry): 'file' | 'folder' | 'special' {
  const type = (externalFileAttributes >>> 16) & TYPE
  if (type === FOLDER) return 'folder'
  return type === 0 || type === REGULAR ? 'file' : 'special'
}

const UTF8_FLAG = 0x800

/** UTF-8, which many write without saying so; else as the archive says, else code page 437. */
function decodeName({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fileNameRaw)
  } catch {
    const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)
    if ((generalPurposeBitFlag & UTF8_FLAG) === 0) return name
    throw refuse('archive_path', 'is not UTF-8, and says that it is', name)
  }
}

/** No more than the directory says, and that has been found acceptable. */
async function inflate(
  bytes: Buffer,
  zip: ZipFile,
  { path, entry }: ZipEntry,
): Promise<Uint8Array> {
  let unpacked: Buffer
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
    const end = fileDataStart + entry.compressedSize
    if (end > bytes.length || !entry.canDecodeFileData()) throw new Error('it cannot be read')
    const packed = bytes.subarray(fileDataStart, end)
    unpacked = entry.compressionMethod === STORED ? packed : await inflateAtMost(packed, entry)
  } catch (error) {
    throw corrupt(error, path)
  }
  if (unpacked.length !== entry.uncompressedSize) throw wrongSize(path)
  if (crc32(unpacked) !== entry.crc32) {
    throw refuse('archive_corrupt', 'has another checksum than it says', path)
  }
  return unpacked
}

const STORED = 0
const CHUNK_BYTES = 256 * 1024

const inflateAtMost = (packed: Buffer, { uncompressedSize }: Entry): Promise<Buffer> =>
  promisify(inflateRaw)(packed, {
    maxOutputLength: Math.max(uncompressedSize, 1),
    chunkSize: Math.min(Math.max(uncompressedSize, 1024), CHUNK_BYTES),
  })

const wrongSize = (path: string) => refuse('archive_corrupt', 'has another size than it says', path)

/** The words of the reader are its own: they may hold whatever the archive does. */
function corrupt(error: unknown, path?: string): AppError {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) throw error
  if (/encrypt/i.test(error.message)) return refuse('archive_encrypted', 'is encrypted', path)
  return refuse('archive_corrupt', 'is damaged, cut off or no zip', path, error)
}
