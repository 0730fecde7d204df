import { setImmediate } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Lets the event loop go round, once for each who waits. The embedded database answers at once, so
 * that without this many turns that begin together would keep everybody else waiting.
 */
export function breathe(): Promise<unknown> {
  last = last.then(() => setImmediate())
  return last
}
