import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import { AppError } from '../../errors.ts'
import {
  type Archive,
  type ArchiveEntry,
  type ArchiveFile,
  type ArchiveLimits,
  Budget,
  faultOfFolder,
  refuse,
  tooLarge,
} from './archive.ts'

/** A tar has no table of contents: it is read twice, rather than kept. */
export async function readTgz(bytes: Buffer, limits: ArchiveLimits): Promise<Archive> {
  const entries: ArchiveEntry[] = []
  for await (const { path } of walk(bytes, limits, false)) entries.push({ path })
  return { entries, files: () => walk(bytes, limits, true) }
}

const FILES = new Set(['File', 'OldFile', 'ContiguousFile'])
/** Of extended headers, which hold long names: together by the entry, and of one. */
const NOTE_BYTES = 1024
const MAX_NOTE_BYTES = 64 * 1024
const FOLDERS = new Set(['Directory', 'GNUDumpDir'])

async function* walk(
  packed: Buffer,
  limits: ArchiveLimits,
  keeps: boolean,
): AsyncGenerator<ArchiveFile> {
  const budget = new Budget(limits, packed.length)
  const finished: ArchiveFile[] = []
  /** Of the archive as a whole. */
  const faults: AppError[] = []

  // What the parser calls may not throw, or it would be left in mid-air.
  function take(entry: ReadEntry): void {
    const { path } = entry
    const spoilt = overspent(entry, budget)
    if (spoilt) faults.push(spoilt)
    const fault = faultOf(entry)
    if (fault) finished.push({ path, fault })
    if (spoilt || fault || !FILES.has(entry.type)) {
      entry.resume()
      return
    }
    const chunks: Buffer[] = []
    entry.on('data', (chunk) => {
      if (keeps) chunks.push(chunk)
    })
    entry.on('end', () => finished.push({ path, bytes: Buffer.concat(chunks) }))
  }

  const parser = new Parser({
    brotli: false,
    zstd: false,
    maxMetaEntrySize: MAX_NOTE_BYTES,
    onReadEntry: take,
    onwarn: () => faults.push(damaged()),
  })
  parser.on('ignoredEntry', take)
  let notes = limits.entries * NOTE_BYTES
  parser.on('meta', (text: string) => {
    notes -= text.length
    if (notes < 0) faults.push(tooLarge('more in extended headers than its entries need'))
    // The parser would cut such a name there.
    if (text.replace(/\0+$/, '').includes('\0')) {
      faults.push(refuse('archive_path', 'names a file with NUL'))
    }
  })
  let ended = false
  parser.on('eof', () => {
    ended = true
  })

  for await (const chunk of inflate(packed, limits)) {
    // Behind the end the parser would gather all there is, in time that is quadratic.
    if (ended) continue
    parser.write(chunk)
    throwFirst(faults)
    yield* finished.splice(0)
  }
  if (!ended) parser.end()
  throwFirst(faults)
  yield* finished.splice(0)
}

/** What is wrong with an entry by its header, and with none but it. */
function faultOf({ type, path }: ReadEntry): AppError | undefined {
  if (path.includes('\ufffd')) return refuse('archive_path', 'is not UTF-8', path)
  if (FOLDERS.has(type)) return faultOfFolder(path)
  if (FILES.has(type)) return undefined
  return refuse('archive_link', 'is a link or a special file', path)
}

/** Why the archive cannot be read past an entry, known before a byte of it is. */
function overspent({ type, size, meta }: ReadEntry, budget: Budget): AppError | undefined {
  if (meta) return damaged()
  try {
    budget.takeEntry()
    budget.takeBytes(FILES.has(type) ? size : 0)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

const CHUNK_BYTES = 64 * 1024
const BYTES_PER_ENTRY = 2048
const GZIP = Buffer.from([0x1f, 0x8b])

/** The tar itself, which has headers and padding besides the files. */
async function* inflate(packed: Buffer, limits: ArchiveLimits): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  gunzip.end(packed)
  let left = limits.bytes + limits.entries * BYTES_PER_ENTRY + CHUNK_BYTES
  let head: Buffer | undefined = Buffer.alloc(0)
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      left -= chunk.length
      if (left < 0) throw tooLarge(`more than ${limits.bytes} bytes unpacked`)
      if (!head) {
        yield chunk
        continue
      }
      head = Buffer.concat([head, chunk])
      if (head.length < 512) continue
      // The parser would inflate what is packed twice by itself, with no limit.
      if (head.subarray(0, 2).equals(GZIP)) throw damaged()
      yield head
      head = undefined
    }
  } catch (error) {
    throw error instanceof AppError ? error : damaged(error)
  }
  if (head) throw damaged()
}

function throwFirst([fault]: AppError[]): void {
  if (fault) throw fault
}

const damaged = (cause?: unknown): AppError =>
  refuse('archive_corrupt', 'is damaged, cut off or no tar in gzip', undefined, cause)
