import { SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

interface Progress {
  /** One more is done; `next` is what it goes on with. */
  step(next: string): void
  stop(): void
}

/** A bar on standard error while it is a terminal, and nothing otherwise. */
export function startProgress(terminal: Terminal, what: string, total: number): Progress {
  if (!terminal.errors.isTTY || total < 2) return { step: () => {}, stop: () => {} }
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total} {next}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: terminal.errors,
    clearOnComplete: true,
    hideCursor: false,
    gracefulExit: false,
  })
  bar.start(total, 0, { next: '' })
  return {
    step: (next) => bar.increment(1, { next }),
    stop: () => bar.stop(),
  }
}
