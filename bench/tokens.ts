import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { Diagnostics } from '../src/domain/diagnostics.ts'
import { parseSkillMd } from '../src/domain/skill-md.ts'
import { estimateTokens } from '../src/domain/tokens.ts'
import { makeSkills, makeText } from './tokens/made-skills.ts'
import {
  type Count,
  ceilingRow,
  costRows,
  type Row,
  realSkillsRow,
  relevanceRow,
  type Shown,
} from './tokens/rows.ts'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    // Taken because every bench takes it; a count is the same in every round.
    rounds: { type: 'string' },
  },
})

const CEILING = 4000
const REAL_NAMES = ['code-review', 'pdf', 'mcp-builder', 'agent-builder']

const o200k: Count = (text) => countTokens(text)
const real = makeSkills({ skills: 10, line: 39, body: 2000 }, o200k)
const long = makeSkills({ skills: 10, line: 100, body: 2000 }, o200k)
const crowd = makeSkills({ skills: options.quick ? 100 : 1000, line: 100, body: 2000 }, o200k)
const task = makeText(3000, o200k)
const own = readOwnSkills()

const rows = rowsBy(o200k).map((row, index) => ({
  ...row,
  estimate: rowsBy(estimateTokens)[index]?.ours ?? '',
}))
process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows))
process.exitCode = rows.some(({ met }) => met === false) ? 1 : 0

function rowsBy(count: Count): Row[] {
  const sizes = [1, 10, 20, 100, 1000].filter((size) => size <= crowd.length)
  return [
    ...costRows({ skills: real, real: true, task }, count),
    ...costRows({ skills: long, real: false, task }, count),
    ...sizes.map((size) => ceilingRow(crowd.slice(0, size), CEILING, count)),
    relevanceRow(real.slice(0, 8), real.slice(0, 2), count),
    ...(own.length > 0 ? [realSkillsRow(own, count)] : []),
  ].toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))
}

function readOwnSkills(): Shown[] {
  const paths = REAL_NAMES.map((name) =>
    join(import.meta.dirname, '..', 'skills', name, 'SKILL.md'),
  )
  if (!paths.every((path) => existsSync(path))) return []
  return paths.map((path) => ({
    ...parseSkillMd(readFileSync(path), new Diagnostics('SKILL.md')),
    version: 1,
  }))
}

function table(lines: (Row & { estimate: string })[]): string {
  const heads = ['id', 'what', 'old figure', 'corrected', 'ours (o200k)', 'our estimate', 'target']
  const cells = lines.map((row) => [
    row.id,
    row.what,
    row.old,
    row.corrected,
    row.ours,
    row.estimate,
    row.target,
  ])
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: string[]): string =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  const colour = (format: 'bold' | 'dim' | 'green' | 'red', text: string): string =>
    styleText(format, text, { stream: process.stdout })
  return `${[
    colour('bold', line(heads)),
    ...cells.map((row, index) => {
      const met = lines[index]?.met
      if (met === null) return line(row)
      return `${line(row)}  ${met ? colour('green', 'met') : colour('red', 'missed')}`
    }),
    colour(
      'dim',
      `Tokens of the system prompt and of loaded skills, from generated skills and the real catalog, counted without a provider; "→" leads from all bodies inlined to what is sent instead.`,
    ),
  ].join('\n')}\n`
}
