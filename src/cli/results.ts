import type { ImportedSkill } from '../registry/import.ts'
import { printFault } from './placed-fault.ts'
import { count, oneLine, type Terminal } from './terminal.ts'

/** What became of one skill. `path` is that of its SKILL.md, as people see it. */
export type Result = ImportedSkill

const STYLES = { created: 'green', updated: 'cyan', unchanged: 'dim', failed: 'red' } as const
const COLUMN = 10

export function countResults(results: readonly Result[]) {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  for (const { status } of results) counts[status] += 1
  return counts
}

interface Shown {
  /** With the text of each warning. */
  warnings: boolean
  /** What did not change is a line too. */
  unchanged: boolean
}

export function printResult(terminal: Terminal, result: Result, shown: Shown): void {
  const { path, name, status, errors, warnings } = result
  if (status !== 'unchanged' || shown.unchanged) {
    const word = terminal.paint(STYLES[status], status.padEnd(COLUMN))
    terminal.print(`${word} ${name === null ? oneLine(path) : `${name} (${oneLine(path)})`}`)
  }
  for (const fault of errors) printFault(terminal, fault, 'error')
  if (shown.warnings) for (const fault of warnings) printFault(terminal, fault, 'warning')
}

/** The last line: how many there were, of each kind. */
export function printCounts(terminal: Terminal, results: readonly Result[], shown: Shown): void {
  const counts = countResults(results)
  const told = Object.entries(counts).map(([status, number]) => `${number} ${status}`)
  terminal.print(`${count(results.length, 'skill')}: ${told.join(', ')}.`)
  const warnings = results.reduce((sum, result) => sum + result.warnings.length, 0)
  if (warnings > 0 && !shown.warnings) {
    terminal.print(`${count(warnings, 'warning')}: --warnings shows them.`)
  }
}
