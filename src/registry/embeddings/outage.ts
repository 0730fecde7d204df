import type { Logger } from 'pino'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** Whether the endpoint is to be left alone for a while. Each outage is logged once. */
export interface Outage {
  /** For how many milliseconds nothing should be asked of it; 0 when it may be asked. */
  pause(): number
  began(error: unknown): void
  ended(): void
}

export function watchOutage(log: Pick<Logger, 'warn' | 'info'>): Outage {
  let failures = 0
  let until = 0
  const pause = () => Math.max(0, until - Date.now())
  return {
    pause,
    began(error) {
      if (failures === 0) {
        log.warn({ reason: reasonOf(error) }, 'embeddings fail: skills are found by words alone')
      }
      // Of several that were under way together, one counts.
      if (pause() > 0) return
      until = Date.now() + Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS)
    },
    ended() {
      if (failures > 0) log.info('embeddings work again')
      failures = 0
      until = 0
    },
  }
}

/** Of a connection that failed, the cause tells more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
