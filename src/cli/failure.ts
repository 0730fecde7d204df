/** What the program ends with. */
export const EXIT = {
  done: 0,
  found: 1,
  usage: 2,
  unreachable: 3,
  key: 4,
  refused: 5,
  stopped: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_HELP = `Exit codes:
  0    done
  1    something was found wrong: a skill is not valid, failed, or a turn did not end well
  2    the command line, a setting or a path is wrong
  3    the service cannot be reached
  4    the service refused the key
  5    the service refused the request, or failed
  130  stopped by Ctrl-C`

/** Ends the program: with what it says, on standard error, and with its exit code. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, circumstances: { cause?: unknown } = {}) {
    super(message, circumstances)
    this.exitCode = exitCode
  }
}

export const usageFailure = (message: string): Failure => new Failure(EXIT.usage, message)
