import { styleText } from 'node:util'
import type { Service } from './service.ts'

type Style = Parameters<typeof styleText>[0]

const MAX_COLUMNS = 100
const MIN_COLUMNS = 40
const INDENT = '   '
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

let steps = 0

const columns = (): number =>
  Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, process.stdout.columns ?? MAX_COLUMNS))

export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`)
}

const paint = (style: Style | undefined, text: string): string =>
  style === undefined ? text : styleText(style, text)

export function printTitle({ url, model }: Service): void {
  print(
    `\n${paint('bold', 'loadskill')} ${paint('dim', `on ${url}, with a database for this demo`)}`,
  )
  const told =
    model === 'offline'
      ? 'Without an API key the built-in offline model answers: it loads skills and quotes them.'
      : `The model is ${model}.`
  print(paint('dim', told))
}

/** The heading of the next step, with the call that it makes. */
export function printStep(title: string, request: string): void {
  steps += 1
  print()
  printEnds(`${steps}  ${title}`, request, ['bold', 'cyan'], 'dim')
}

export const printRow = (label: string, text: string, count: string): void =>
  printEnds(`${INDENT}${label.padEnd(10)}${text}`, count)

/** One text at each edge of the page; the right one is left out where there is no room for it. */
function printEnds(left: string, right: string, leftStyle?: Style, rightStyle?: Style): void {
  const gap = columns() - widthOf(left) - widthOf(right)
  const end = gap < 2 ? '' : `${' '.repeat(gap)}${paint(rightStyle, right)}`
  print(`${paint(leftStyle, left)}${end}`)
}

export function printBar(label: string, count: number, whole: number, style: Style): void {
  const start = `${INDENT}${label.padEnd(26)}${count.toLocaleString('en').padStart(7)}  `
  const length = Math.round(((columns() - start.length) * count) / whole)
  print(`${start}${paint(style, '█'.repeat(Math.max(1, length)))}`)
}

export function printText(text: string, style?: Style): void {
  for (const line of wrap(text, columns() - INDENT.length)) print(`${INDENT}${paint(style, line)}`)
}

/** Lines of a file or a prompt, each cut to the width of the page. */
export function printQuote(
  lines: readonly string[],
  styleOf: (line: string) => Style | undefined = () => undefined,
) {
  for (const line of lines) {
    print(
      `${INDENT}${paint('dim', '│')} ${paint(styleOf(line), cut(line, columns() - INDENT.length - 2))}`,
    )
  }
}

export function printResult(status: number, text: string): void {
  const [style, mark] = status < 400 ? (['green', '✓'] as const) : (['red', '✗'] as const)
  const [first = '', ...rest] = wrap(text, columns() - INDENT.length - 6)
  print(`${INDENT}${paint(['bold', style], `${mark} ${status}`)} ${paint(style, first)}`)
  for (const line of rest) print(`${INDENT}      ${paint(style, line)}`)
}

/** Words of a text in lines of at most `width` columns; its own line ends stay. */
function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.split(' ')) {
      const longer = [lines.at(-1), word].filter(Boolean).join(' ')
      if (widthOf(longer) <= width) lines[lines.length - 1] = longer
      else lines.push(word)
    }
    return lines
  })
}

function cut(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  let kept = ''
  for (const character of line) {
    if (widthOf(kept + character) > width - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** In columns: ideographs take two. */
const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0)
