import { refuseEscapes } from '../../domain/bundle.ts'
import { AppError } from '../../errors.ts'

/** What an archive as a whole may hold, in entries and bytes, and how far it may unpack. */
export interface ArchiveLimits {
  entries: number
  bytes: number
}

export const MAX_RATIO = 100

/**
 * A file of an archive, or what is there in place of one and has to be refused. Its path is as it
 * was written, and not to be trusted.
 */
export interface ArchiveEntry {
  path: string
}

/** An entry with its bytes, or with what is wrong with it and spoils no other. */
export type ArchiveFile = ArchiveEntry &
  ({ bytes: Uint8Array; fault?: never } | { fault: AppError; bytes?: never })

/** An archive whose table of contents has been read, and is acceptable as a whole. */
export interface Archive {
  readonly entries: readonly ArchiveEntry[]
  /** All of `entries`, one at a time, in the order of the archive. */
  files(): AsyncIterable<ArchiveFile>
}

export type ArchiveFormat = 'zip' | 'tgz'

/** By its first bytes, whatever it is called. */
export function formatOf(bytes: Uint8Array): ArchiveFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  if (start === 'PK\x03\x04' || start === 'PK\x05\x06') return 'zip'
  return start.startsWith('\x1f\x8b') ? 'tgz' : undefined
}

/** An archive as it came, unread. */
export interface Packed {
  format: ArchiveFormat
  bytes: Buffer
}

/** Counts while it inflates: what an archive says of itself is believed only when it is too much. */
export class Budget {
  readonly #limits: ArchiveLimits
  readonly #packed: number
  #entries = 0
  #bytes = 0

  constructor(limits: ArchiveLimits, packed: number) {
    this.#limits = limits
    this.#packed = packed
  }

  takeEntry(): void {
    this.#entries += 1
    const { entries } = this.#limits
    if (this.#entries > entries) throw tooLarge(`more than ${entries} entries`)
  }

  takeBytes(count: number): void {
    this.#bytes += count
    const { bytes } = this.#limits
    if (this.#bytes > bytes) throw tooLarge(`more than ${bytes} bytes unpacked`)
    if (this.#bytes > this.#packed * MAX_RATIO) {
      throw tooLarge(`more than ${MAX_RATIO} times its size unpacked`)
    }
  }
}

/** A folder is nothing by itself, but it may lead elsewhere as a file may. */
export function faultOfFolder(path: string): AppError | undefined {
  try {
    refuseEscapes([path])
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

export const tooLarge = (what: string) =>
  new AppError('archive_too_large', `The archive holds ${what}, which is the limit.`)

export function refuse(
  code:
    | 'archive_corrupt'
    | 'archive_encrypted'
    | 'archive_link'
    | 'archive_path'
    | 'archive_too_large',
  what: string,
  path?: string,
  cause?: unknown,
): AppError {
  const file = path === undefined ? undefined : JSON.stringify(path.slice(0, 120)).slice(1, -1)
  const message = file === undefined ? `The archive ${what}.` : `"${file}" ${what}.`
  return new AppError(code, message, { errors: [{ code, message, ...(file && { file }) }], cause })
}
