import { AppError, type ErrorCode } from '../errors.ts'

type StorageCode = Extract<ErrorCode, `storage_${string}`>

/** By SQLite's result code, PostgreSQL's SQLSTATE, or the code of the operating system. */
const CODES: [RegExp, StorageCode][] = [
  [/^(SQLITE_(BUSY|LOCKED)|40001$|40P01$|55P03$|53300$)/, 'storage_busy'],
  [/^(SQLITE_FULL|53100$|ENOSPC$)/, 'storage_full'],
  [
    /^SQLITE_(IOERR|READONLY|CORRUPT|CANTOPEN|NOTADB|NOMEM|PERM|AUTH|PROTOCOL|NOLFS)/,
    'storage_failed',
  ],
  [/^(08|28|3D|53|57|58|XX|F0)...$|^25(006|P0[23])$/, 'storage_failed'],
  [
    /^E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)$/,
    'storage_failed',
  ],
]

/** What pg and its pool say without a code. */
const MESSAGES: [RegExp, StorageCode][] = [
  [/^timeout exceeded when trying to connect/, 'storage_busy'],
  [/^(Connection terminated|Client has encountered a connection error)/, 'storage_failed'],
]

const ANSWERS: Record<StorageCode, [detail: string, retryAfter: number]> = {
  storage_busy: ['The storage is busy; try again.', 1],
  storage_full: ['The storage has no room left.', 60],
  storage_failed: ['The storage cannot be used at the moment.', 5],
}

/** The driver's error as one to tell the caller; what is no fault of the storage comes back as it is. */
export function toStorageFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  const code = 'code' in error ? String(error.code) : ''
  const found =
    CODES.find(([pattern]) => pattern.test(code)) ??
    MESSAGES.find(([pattern]) => pattern.test(error.message))
  if (!found) return error
  const [detail, retryAfter] = ANSWERS[found[1]]
  return new AppError(found[1], detail, { cause: error, retryAfter })
}

type Methods<Store> = Record<keyof Store, (...input: never[]) => Promise<unknown>>

/** The same store, whose methods reject with an AppError when the storage is at fault. */
export function tellingFaults<Store extends Methods<Store>>(store: Store): Store {
  const methods = Object.entries<(...input: never[]) => Promise<unknown>>(store)
  const telling = methods.map(([name, method]) => [
    name,
    (...input: never[]) =>
      method(...input).catch((error: unknown) => {
        throw toStorageFault(error)
      }),
  ])
  return Object.fromEntries(telling)
}
