import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

/** As Node has it: up to two bits there are no colours. */
const MONOCHROME_BITS = 2

/** Where a command speaks: answers on standard output, all else on standard error. */
export interface Terminal {
  /** Whether somebody reads along, and can be asked. */
  readonly interactive: boolean
  /** Of standard output; undefined where that is no terminal, and nothing has to fit. */
  readonly columns: number | undefined
  readonly input: Input
  readonly output: Output
  readonly errors: Output
  print(line?: string): void
  printJson(value: unknown): void
  /** As `print`, to standard error. */
  note(line: string): void
  /** Text in a style, where standard output is a terminal and NO_COLOR is not set. */
  paint(style: Style, text: string): string
  /** As `paint`, for standard error. */
  paintNote(style: Style, text: string): string
}

type Input = NodeJS.ReadableStream & { isTTY?: boolean }
type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** Those of a process, or any others. */
interface Streams {
  stdin: Input
  stdout: Output
  stderr: Output
}

export function createTerminal(
  { stdin, stdout, stderr }: Streams,
  env: NodeJS.ProcessEnv,
): Terminal {
  // `styleText` alone would ask the environment of the process, where a test runner sets FORCE_COLOR.
  const painter = (stream: Output) => {
    const asked = stream.isTTY || env.FORCE_COLOR !== undefined
    const coloured = asked && WriteStream.prototype.getColorDepth(env) > MONOCHROME_BITS
    return (style: Style, text: string) =>
      coloured ? styleText(style, text, { validateStream: false }) : text
  }
  const print = (line = '') => stdout.write(`${line}\n`)
  return {
    interactive: Boolean(stdin.isTTY && stdout.isTTY),
    columns: stdout.isTTY ? stdout.columns : undefined,
    input: stdin,
    output: stdout,
    errors: stderr,
    print,
    printJson: (value) => print(JSON.stringify(value, null, 2)),
    note: (line) => stderr.write(`${line}\n`),
    paint: painter(stdout),
    paintNote: painter(stderr),
  }
}

/** Text of others, without what a terminal would obey. */
export const plain = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => ('\n\t'.includes(character) ? character : ''))

/** As `plain`, on one line. */
export const oneLine = (text: string): string => plain(text.replaceAll(/\s+/g, ' ')).trim()

export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

/** An error in words, whoever threw it. */
export const toldError = (error: unknown): string =>
  plain(error instanceof Error ? error.message : String(error))
