import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { withSlashes } from '../../domain/bundle.ts'
import { AppError } from '../../errors.ts'
import {
  type Archive,
  type ArchiveEntry,
  type ArchiveFile,
  type ArchiveLimits,
  Budget,
  faultOfFolder,
  MAX_RATIO,
  refuse,
  tooLarge,
} from './archive.ts'

interface ZipEntry extends ArchiveEntry {
  entry: Entry
  /** What is wrong with it by the directory. */
  fault?: AppError | undefined
}

/** What the directory says is checked before anything inflates, and held to while it does. */
export async function readZip(bytes: Buffer, limits: ArchiveLimits): Promise<Archive> {
  const zip = await open(bytes)
  if (zip.entryCount > limits.entries) {
    throw tooLarge(`${zip.entryCount} entries, of ${limits.entries} allowed`)
  }
  const entries = checkSizes(await list(zip), limits, bytes.length)

  async function* files() {
    for (const entry of entries) yield await inflate(bytes, zip, entry)
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

/** Without the folders, but for those that lead elsewhere. */
async function list(zip: ZipFile): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      const { path, isText } = decodeName(entry)
      const kind = kindOf(entry, path)
      const fault = isText ? faultOf(entry, path, kind) : lyingName(path)
      if (fault || kind !== 'folder') entries.push({ path, entry, fault })
    }
  } catch (error) {
    throw corrupt(error)
  }
  return entries
}

function faultOf(entry: Entry, path: string, kind: Kind): AppError | undefined {
  if (kind === 'folder') return faultOfFolder(path)
  if (kind === 'special') return refuse('archive_link', 'is a link or a special file', path)
  return entry.isEncrypted() ? refuse('archive_encrypted', 'is encrypted', path) : undefined
}

const lyingName = (path: string) =>
  refuse('archive_path', 'is not UTF-8, and says that it is', path)

/** By what the directory says; an entry that is too much by itself is refused alone. */
function checkSizes(entries: ZipEntry[], limits: ArchiveLimits, packed: number): ZipEntry[] {
  const budget = new Budget(limits, packed)
  const sound = entries.filter(({ fault }) => !fault)
  const total = sound.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0)
  const isBomb = total > packed * MAX_RATIO
  return entries.map((each) => {
    if (each.fault) return each
    const { path, entry } = each
    const { uncompressedSize: size, compressedSize } = entry
    if (size > limits.bytes) return { ...each, fault: oversized(path, `${limits.bytes} bytes`) }
    if (isBomb && size > compressedSize * MAX_RATIO) {
      return { ...each, fault: oversized(path, `${MAX_RATIO} times its size`) }
    }
    budget.takeBytes(size)
    return each
  })
}

const oversized = (path: string, limit: string) =>
  refuse('archive_too_large', `unpacks to more than ${limit}, which is the limit`, path)

const TYPE = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000

type Kind = 'file' | 'folder' | 'special'

/** By the mode of Unix, whatever system the archive says it is from. */
function kindOf({ externalFileAttributes }: Entry, path: string): Kind {
  const type = (externalFileAttributes >>> 16) & TYPE
  if (type !== 0 && type !== REGULAR && type !== FOLDER) return 'special'
  return type === FOLDER || withSlashes(path).endsWith('/') ? 'folder' : 'file'
}

const UTF8_FLAG = 0x800

/** UTF-8, which many write without saying so; else as the archive says, else code page 437. */
function decodeName({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry) {
  try {
    const path = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fileNameRaw)
    return { path, isText: true }
  } catch {
    const path = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)
    return { path, isText: (generalPurposeBitFlag & UTF8_FLAG) === 0 }
  }
}

/** No more than the directory says, and that has been found acceptable. */
async function inflate(
  bytes: Buffer,
  zip: ZipFile,
  { path, entry, fault }: ZipEntry,
): Promise<ArchiveFile> {
  if (fault) return { path, fault }
  let unpacked: Buffer
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
    const end = fileDataStart + entry.compressedSize
    if (end > bytes.length || !entry.canDecodeFileData()) throw new Error('it cannot be read')
    const packed = bytes.subarray(fileDataStart, end)
    unpacked = entry.compressionMethod === STORED ? packed : await inflateAtMost(packed, entry)
  } catch (error) {
    return { path, fault: corrupt(error, path) }
  }
  const lie = (what: string) => refuse('archive_corrupt', `has another ${what} than it says`, path)
  if (unpacked.length !== entry.uncompressedSize) return { path, fault: lie('size') }
  if (crc32(unpacked) !== entry.crc32) return { path, fault: lie('checksum') }
  return { path, bytes: unpacked }
}

const STORED = 0
const CHUNK_BYTES = 256 * 1024

const inflateAtMost = (packed: Buffer, { uncompressedSize }: Entry): Promise<Buffer> =>
  promisify(inflateRaw)(packed, {
    maxOutputLength: Math.max(uncompressedSize, 1),
    chunkSize: Math.min(Math.max(uncompressedSize, 1024), CHUNK_BYTES),
  })

/** The words of the reader are its own: they may hold whatever the archive does. */
function corrupt(error: unknown, path?: string): AppError {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) throw error
  if (/encrypt/i.test(error.message)) return refuse('archive_encrypted', 'is encrypted', path)
  return refuse('archive_corrupt', 'is damaged, cut off or no zip', path, error)
}
