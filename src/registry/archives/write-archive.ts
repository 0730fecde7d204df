import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Deflate, deflateSync, Gzip, Zip, ZipPassThrough } from 'fflate'
import { Header, Pax } from 'tar'
import type { BundleFile } from '../../domain/skill.ts'
import { AppError } from '../../errors.ts'
import type { ArchiveFormat } from './archive.ts'

type Files = AsyncIterable<BundleFile> | Iterable<BundleFile>

/** What a zip can count to without its 64-bit extension, which fflate does not write. */
const ZIP_LIMITS = { entries: 0xffff, bytes: 0xffffffff }
/** Of two headers, with a path each that is at most a folder of 64 and a file of 255 bytes. */
const ZIP_HEADER_BYTES = 1024

/** Refuses what no zip can hold, before there is any of it; `bytes` are those of the files. */
export function refuseBeyondZip({ files, bytes }: { files: number; bytes: number }): void {
  if (files > ZIP_LIMITS.entries) {
    throw beyondZip(`${files} files are more than the ${ZIP_LIMITS.entries}`)
  }
  // As if nothing could be compressed: how much can is known too late.
  const most = bytes + files * ZIP_HEADER_BYTES
  if (most > ZIP_LIMITS.bytes) throw beyondZip(`${bytes} bytes may be more than the 4 GiB`)
}

const beyondZip = (what: string) =>
  new AppError('archive_too_large', `${what} that a zip can hold: ask for format=tgz.`)

const LEVEL = 6
/** Of what has been read before, half a megabyte: more takes longer to get than a small skill to pack. */
const MEMORY = 6
const SLICE = 64 * 1024
const BLOCK = 512
/** Whoever unpacks an archive refuses one that grows a hundredfold, and so does an import. */
const MAX_RATIO = 50
const EMPTY = new Uint8Array(0)

/**
 * Packs files in the order given, no more into a zip than `refuseBeyondZip` lets through, and no faster than they are read. The same files make the same bytes
 * on every machine: fflate compresses, for what zlib writes differs between processors.
 */
export function writeArchive(format: ArchiveFormat, files: Files): Readable {
  return Readable.from(format === 'zip' ? zip(files) : tgz(files), { objectMode: false })
}

async function* zip(files: Files): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = []
  const archive = new Zip((error, chunk) => {
    if (error) throw error
    if (chunk.length > 0) out.push(chunk)
  })
  for await (const { path, bytes } of files) {
    const file = new ZippedFile(path, await deflate(bytes))
    archive.add(file)
    file.push(bytes, true)
    yield* out.splice(0)
  }
  archive.end()
  yield* out.splice(0)
}

type Chunk = Uint8Array<ArrayBuffer>

/** A file that is deflated already, or else stored. */
class ZippedFile extends ZipPassThrough {
  override os = 3
  override attrs = 0o100644 * 2 ** 16
  // A zip holds local time: these parts of a date are the same in every zone.
  override mtime = new Date(1980, 0, 1, 12)
  readonly #deflated: Chunk[]

  constructor(path: string, deflated: Chunk[]) {
    super(path)
    this.#deflated = deflated
    if (deflated.length > 0) this.compression = 8
  }

  protected override process(bytes: Uint8Array): void {
    for (const chunk of this.#deflated) this.ondata(null, chunk, false)
    this.ondata(null, this.#deflated.length > 0 ? EMPTY : new Uint8Array(bytes), true)
  }
}

/** Nothing, where the file would shrink too much or not at all. */
async function deflate(bytes: Uint8Array): Promise<Chunk[]> {
  // A stream takes megabytes of memory, however small the file.
  const chunks =
    bytes.length > SLICE ? await inSlices(bytes) : [deflateSync(bytes, { level: LEVEL })]
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  return size < bytes.length && size * MAX_RATIO > bytes.length ? chunks : []
}

async function inSlices(bytes: Uint8Array): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  const stream = new Deflate({ level: LEVEL }, (chunk) => chunks.push(chunk))
  for (const slice of slicesOf(bytes)) {
    stream.push(slice)
    await setImmediate()
  }
  stream.push(EMPTY, true)
  return chunks
}

/** Slices of a file, so that no other request waits for a large one. */
function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE)
}

async function* tgz(files: Files): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = []
  let packed = 0
  let size = 0
  let empty = true
  const gzip = new Gzip({ level: LEVEL, mem: MEMORY, mtime: 0 }, (chunk) => {
    packed += chunk.length
    if (chunk.length > 0) out.push(chunk)
  })
  for await (const { path, bytes } of files) {
    gzip.push(tarHead(path, bytes.length))
    for (const slice of slicesOf(bytes)) {
      gzip.push(slice)
      yield* out.splice(0)
      await setImmediate()
    }
    gzip.push(new Uint8Array(-bytes.length & (BLOCK - 1)))
    size += bytes.length
    empty = false
  }
  // Readers take a tar without any entry for a damaged one.
  if (empty) gzip.push(tarHead('./', 0, 'Directory'))
  gzip.push(new Uint8Array(2 * BLOCK), true)
  yield* out.splice(0)
  for (; packed * MAX_RATIO < size; packed += PADDING.length) yield PADDING
}

function tarHead(path: string, size: number, type: 'File' | 'Directory' = 'File'): Uint8Array {
  const mode = type === 'File' ? 0o644 : 0o755
  const fields = { path, size, mode, uid: 0, gid: 0, mtime: new Date(0) }
  const block = Buffer.alloc(BLOCK)
  const tooLong = new Header({ ...fields, type }).encode(block)
  return tooLong ? Buffer.concat([new Pax({ path }).encode(), block]) : block
}

/** An empty member with an extra field (RFC 1952, 2.3.1), for what shrinks too much. */
const PADDING = Buffer.concat([
  Buffer.of(0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 0xff, 0xff),
  Buffer.alloc(0xffff),
  Buffer.of(3, 0, 0, 0, 0, 0, 0, 0, 0, 0),
])
