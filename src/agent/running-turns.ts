import { AppError } from '../errors.ts'
import { TurnCancelled } from './run-turn.ts'

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

  /** Lets what runs come to its end, and aborts what is not done within `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#closing = true
    const timer = setTimeout(() => {
      for (const { controller } of this.#running) controller.abort(shuttingDown())
    }, graceMs)
    await Promise.all([...this.#running].map(({ done }) => done))
    clearTimeout(timer)
  }
}

const shuttingDown = () =>
  new AppError('shutting_down', 'The service is shutting down.', { retryAfter: 5 })
