import { createInterface } from 'node:readline'
import type { Terminal } from './terminal.ts'

/** What somebody types; undefined at Ctrl-D and Ctrl-C. `history` is what was typed before. */
export type Ask = (question: string) => Promise<string | undefined>

/** Reads one line at a time, so that Ctrl-C in between is that of the terminal. */
export function createAsk({ input, output }: Terminal): Ask {
  let history: string[] = []
  return (question) => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const lines = createInterface({ input, output, history: [...history] })
    lines.on('history', (all: string[]) => {
      history = all
    })
    lines.once('close', () => resolve(undefined))
    lines.question(question, (answer) => {
      resolve(answer)
      lines.close()
    })
    return promise
  }
}
