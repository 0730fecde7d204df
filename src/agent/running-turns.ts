import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { TurnCancelled } from './run-turn.ts'

/** For an aborted turn to be stored and told of. */
const ABORTED_MS = 2000

interface RunningTurn {
  /** Undefined while the turn is being opened. */
  conversationId: string | undefined
  /** Aborting it ends the turn. */
  readonly controller: AbortController
  readonly done: Promise<void>
  /** To be called once the turn is stored as it ended. */
  leave(): void
}

/** The turns that run in this process. */
export class RunningTurns {
  readonly #running = new Set<RunningTurn>()
  readonly #max: number
  #closing = false

  constructor(max: number) {
    this.#max = max
  }

  /** Takes a place before the turn is opened. Throws `overloaded` when as many run as may. */
  enter(): RunningTurn {
    if (this.#closing) throw shuttingDown()
    if (this.#running.size >= this.#max) {
      const what = `${this.#max} turns run at once, and no more are taken.`
      throw new AppError('overloaded', what, { retryAfter: 5 })
    }
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const turn: RunningTurn = {
      conversationId: undefined,
      controller: new AbortController(),
      done,
      leave: () => {
        this.#running.delete(turn)
        resolve()
      },
    }
    this.#running.add(turn)
    return turn
  }

  /** Resolves once the turn of the conversation is stored as cancelled. False when none runs here. */
  async cancel(conversationId: string): Promise<boolean> {
    const found = [...this.#running].find((turn) => turn.conversationId === conversationId)
    if (!found) return false
    found.controller.abort(new TurnCancelled())
    await found.done
    return true
  }

  /**
   * Lets what runs come to its end, and aborts what is not done within `graceMs`. What even then
   * does not end, for its caller reads nothing, is waited for a moment longer: false.
   */
  async drain(graceMs: number): Promise<boolean> {
    this.#closing = true
    const over = Promise.all([...this.#running].map(({ done }) => done)).then(() => true)
    const timer = setTimeout(() => {
      for (const { controller } of this.#running) controller.abort(shuttingDown())
    }, graceMs)
    const drained = await Promise.race([over, sleep(graceMs + ABORTED_MS, false, { ref: false })])
    clearTimeout(timer)
    return drained
  }
}

const shuttingDown = () =>
  new AppError('shutting_down', 'The service is shutting down.', { retryAfter: 5 })
