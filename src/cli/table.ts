import Table from 'cli-table3'
import { oneLine, type Terminal } from './terminal.ts'

const NONE = ''
const GAP = 2
const MAX_MIDDLE = 24
const MIN_LAST = 20
const NO_LINES = {
  top: NONE,
  'top-mid': NONE,
  'top-left': NONE,
  'top-right': NONE,
  bottom: NONE,
  'bottom-mid': NONE,
  'bottom-left': NONE,
  'bottom-right': NONE,
  left: NONE,
  'left-mid': NONE,
  mid: NONE,
  'mid-mid': NONE,
  right: NONE,
  'right-mid': NONE,
  middle: NONE,
}

type Cell = string | number | null

/** Prints a table; on a terminal it is cut to fit, and in a file it is whole. */
export function printTable(terminal: Terminal, head: string[], rows: Cell[][]): void {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell ?? ''))))
  const numeric = head.map((_, index) => rows.every((row) => typeof row[index] === 'number'))
  const table = new Table({
    head: head.map((title) => terminal.paint('bold', title)),
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [] },
    colAligns: numeric.map((isNumber) => (isNumber ? 'right' : 'left')),
    colWidths: terminal.columns ? fit(terminal.columns, [head, ...cells]) : [],
  })
  table.push(...cells)
  for (const line of table.toString().split('\n')) terminal.print(line.trimEnd())
}

/** The first column is whole, the last has what the others leave. */
function fit(columns: number, rows: string[][]): number[] {
  const [head = []] = rows
  const widths = head.map((_, index) => {
    const width = Math.max(...rows.map((row) => row[index]?.length ?? 0))
    return GAP + (index === 0 ? width : Math.min(width, MAX_MIDDLE))
  })
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width, 0)
  return [...widths.slice(0, -1), Math.max(MIN_LAST, columns - others)]
}
