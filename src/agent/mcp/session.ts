import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connect.ts'
import { readToolList, type ToolList } from './tool-list.ts'

/** Whatever a server sends, its list is not read more often. */
const BETWEEN_READS_MS = 1000
/** A list is read again when it is older, for not every server tells of its changes. */
const STALE_MS = 60_000

/** What was learned over one connection. */
export interface Session {
  readonly connection: Connection
  /** What the server offers; undefined until it was read for the first time. */
  readonly list: ToolList | undefined
  /** Reads the list; where that fails, the connection counts as lost. */
  read(): void
  /** Reads the list where it is old. */
  refresh(): void
}

interface Options {
  /** Of the server. */
  name: string
  connection: Connection
  /** Aborted when nobody is interested any more. */
  signal: AbortSignal
  onRead(list: ToolList, before: ToolList | undefined): void
  onLost(failure: unknown): void
}

export function openSession({ name, connection, signal, onRead, onLost }: Options): Session {
  let list: ToolList | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading = false
  let again = false
  return {
    connection,
    get list() {
      return list
    },
    read,
    refresh() {
      if (performance.now() - readAt > STALE_MS) read()
    },
  }

  function read() {
    again = true
    if (!reading) void readAll()
  }

  async function readAll(): Promise<void> {
    reading = true
    try {
      while (again) {
        await rest(BETWEEN_READS_MS - (performance.now() - readAt), signal)
        again = false
        const before = list
        list = await readToolList(name, await connection.list())
        readAt = performance.now()
        onRead(list, before)
      }
    } catch (failure) {
      onLost(failure)
    } finally {
      reading = false
    }
  }
}

/** Waits, without keeping the process alive; not at all for less than nothing or once aborted. */
export async function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
}
