import { type Failure, LONGEST_WAIT_MS } from './failure.ts'

const TRIES = 3
const BACKOFF_MS = 400
const RETRIED_STATUS = [408, 409, 429]

/** How long to wait before the next try; undefined when there should be none. */
export function waitBeforeRetry(failure: Failure, tries: number): number | undefined {
  const { status = 0, retryAfterMs } = failure
  const refused = status >= 400 && status < 500 && !RETRIED_STATUS.includes(status)
  if (refused || tries >= TRIES) return undefined
  if (retryAfterMs === undefined) return Math.random() * BACKOFF_MS * 2 ** (tries - 1)
  return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined
}
