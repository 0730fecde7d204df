import { readYaml, type YamlFault } from './yaml.ts'
import { advise, keyOf, splitLine } from './yaml-advice.ts'
import { quote } from './yaml-text.ts'

/** How much text may be read while trying: a block of the largest size, eight times. */
const BUDGET = 8 * 16 * 1024

export interface Repair {
  /** From 0, in the YAML. */
  line: number
  advice: string
}

interface Attempt {
  /** As many as before. */
  lines: string[]
  repairs: Repair[]
}

type FaultOf = (lines: readonly string[]) => YamlFault | undefined

/**
 * Makes YAML of what people write for it, each key by itself and line by line; the number of lines
 * stays. Undefined when it cannot.
 */
export function repairYaml(yaml: string): { yaml: string; repairs: Repair[] } | undefined {
  let budget = BUDGET
  const faultOf: FaultOf = (lines) => {
    const text = lines.join('\n')
    budget -= text.length + 80
    return budget < 0 ? EXHAUSTED : readYaml(text).faults[0]
  }

  const { lines, repairs } = liftTabbedKeys(yaml.split('\n'))
  for (let start = 0; start < lines.length && budget > 0; ) {
    const end = endOfKey(lines, start)
    const fault = keyOf(lines[start] ?? '') && faultOf(lines.slice(start, end))
    const attempt =
      fault && (closeQuote(lines, start, faultOf) ?? mend(lines.slice(start, end), fault, faultOf))
    if (attempt) {
      lines.splice(start, attempt.lines.length, ...attempt.lines)
      repairs.push(...attempt.repairs.map((repair) => ({ ...repair, line: start + repair.line })))
    }
    start = attempt ? start + attempt.lines.length : end
  }
  return faultOf(lines) ? undefined : { yaml: lines.join('\n'), repairs }
}

const EXHAUSTED: YamlFault = { code: 'frontmatter_yaml', reason: '', message: '', offset: 0 }
const TAB: YamlFault = { ...EXHAUSTED, reason: 'TAB_AS_INDENT' }

function endOfKey(lines: readonly string[], start: number): number {
  const next = lines.findIndex((line, index) => index > start && keyOf(line) !== undefined)
  return next < 0 ? lines.length : next
}

/** A tab before a key, where the key above has its value already. */
function liftTabbedKeys(lines: readonly string[]): Attempt {
  let finished = false
  return change(lines, (line) => {
    const tabbed = finished && /^ *\t/.test(line) && keyOf(line.trim()) !== undefined
    const lifted = tabbed ? line.trim() : line
    if (line.trim() !== '') {
      finished = keyOf(lifted) !== undefined && /^[^|>[{"'&]/.test(splitLine(lifted)[1])
    }
    return tabbed ? [lifted, advise(TAB, line)] : undefined
  })
}

/** A value between quotes that goes on at the left edge, maybe past what looks like keys. */
function closeQuote(
  lines: readonly string[],
  start: number,
  faultOf: FaultOf,
): Attempt | undefined {
  const [mark = ''] = splitLine(lines[start] ?? '')[1]
  if (mark !== '"' && mark !== "'") return undefined
  const last = lines.findIndex((line, index) => index > start && line.trimEnd().endsWith(mark))
  if (last < 0) return undefined
  const attempt = indent(lines.slice(start, last + 1))
  return faultOf(attempt.lines) ? undefined : attempt
}

function mend(lines: readonly string[], fault: YamlFault, faultOf: FaultOf): Attempt | undefined {
  if (fault.reason === 'BAD_DQ_ESCAPE') return undefined // what was meant cannot be known
  let attempt: Attempt = { lines: [...lines], repairs: [] }
  for (const step of [untab, indent, quoteValues]) {
    const { lines: next, repairs } = step(attempt.lines, faultOf)
    attempt = { lines: next, repairs: [...attempt.repairs, ...repairs] }
    if (repairs.length > 0 && !faultOf(next)) return attempt
  }
  return [fold(lines, fault), leaveOut(lines)].find((last) => last && !faultOf(last.lines))
}

function untab(lines: readonly string[]): Attempt {
  return change(lines, (line) => {
    const blanks = /^[ \t]*/.exec(line)?.[0] ?? ''
    if (!blanks.includes('\t')) return undefined
    return [blanks.replaceAll('\t', '  ') + line.slice(blanks.length), advise(TAB, line)]
  })
}

/** Lines that go on at the left edge. */
function indent(lines: readonly string[]): Attempt {
  const advice = 'this line goes on with the value above: indent it by two blanks.'
  const { lines: indented, repairs } = change(lines, (line, index) =>
    index > 0 && /^\S/.test(line) ? [`  ${line}`, advice] : undefined,
  )
  return { lines: indented, repairs: repairs.slice(0, 1) }
}

/** Values of one line that are text, but not to YAML. */
function quoteValues(lines: readonly string[], faultOf: FaultOf): Attempt {
  return change(lines, (line) => {
    const [lead, value] = splitLine(line)
    if (lead.trim() === '' || !isText(value)) return undefined
    const fault = faultOf([`value: ${value}`])
    return fault && [lead + quote(value.trim()), advise(fault, line)]
  })
}

/** The whole value of a key as one text, folded as YAML folds. */
function fold(lines: readonly string[], fault: YamlFault): Attempt | undefined {
  const [head = '', ...more] = lines
  const [lead, value] = splitLine(head)
  if (!isText(value)) return undefined
  const text = [value, ...more]
    .map((line) => line.trim())
    .join('\n')
    .trim()
    .replaceAll(/\n+/g, (breaks) => (breaks.length > 1 ? breaks.slice(1) : ' '))
  return {
    lines: [lead + quote(text), ...more.map(() => '')],
    repairs: [{ line: 0, advice: advise(fault, head) }],
  }
}

/** Prose below a list, where the closing line was forgotten. */
function leaveOut(lines: readonly string[]): Attempt | undefined {
  const first = lines.findIndex((line, index) => index > 0 && /^[^\s#-]/.test(line))
  if (first < 0 || !/^\s*- /.test(lines[1] ?? '')) return undefined
  const advice =
    'this line and those below it were left out: they are no YAML, so move them below the frontmatter.'
  return {
    lines: lines.map((line, index) => (index < first ? line : '')),
    repairs: [{ line: first, advice }],
  }
}

/** A list in brackets is text only when something follows it, as in `[file] [mode]`. */
const isText = (value: string): boolean =>
  value.startsWith('[') ? /^\[[^[\]]*\][ \t]*[^ \t]/.test(value) : /^[^{|>&!\s]/.test(value)

function change(
  lines: readonly string[],
  next: (line: string, index: number) => [line: string, advice: string] | undefined,
): Attempt {
  const repairs: Repair[] = []
  const changed = lines.map((line, index) => {
    const [text, advice] = next(line, index) ?? [line]
    if (advice !== undefined) repairs.push({ line: index, advice })
    return text
  })
  return { lines: changed, repairs }
}
