const SETTLE_MS = 150
const MAX_WAIT_MS = 1000

/** Work on keys, one at a time, each once it has been quiet for a moment. It must not throw. */
export interface Settling {
  touch(key: string): void
  /** Runs before anything that was touched meanwhile. */
  first(work: () => Promise<void>): Promise<void>
  /** Drops what has not begun, and resolves once what has begun is done. */
  close(): Promise<void>
}

/** A file that is being written is read when it has settled, and under a storm every second. */
export function settling(work: (key: string) => Promise<void>): Settling {
  const waiting = new Map<string, { timer: NodeJS.Timeout; since: number }>()
  let running: Promise<void> = Promise.resolve()
  let closed = false

  function run(task: () => Promise<void>): Promise<void> {
    const next = running.then(async () => {
      if (!closed) await task()
    })
    running = next.catch(() => undefined)
    return next
  }

  return {
    touch(key) {
      const before = waiting.get(key)
      if (before) clearTimeout(before.timer)
      const since = before?.since ?? Date.now()
      const wait = Math.max(0, Math.min(SETTLE_MS, since + MAX_WAIT_MS - Date.now()))
      const timer = setTimeout(() => {
        waiting.delete(key)
        void run(() => work(key))
      }, wait)
      waiting.set(key, { timer, since })
    },
    first: run,
    async close() {
      closed = true
      for (const { timer } of waiting.values()) clearTimeout(timer)
      await running
    },
  }
}
