import { keyOf } from './yaml-advice.ts'

export interface Position {
  line: number
  column: number
  /** The last key at the left edge at or above the line. */
  field?: string
}

/** Finds positions in the file of offsets in its YAML, which begins on `firstLine`. */
export function createLocator(yaml: string, firstLine: number): (offset: number) => Position {
  const starts = [0]
  for (let at = yaml.indexOf('\n'); at >= 0; at = yaml.indexOf('\n', at + 1)) starts.push(at + 1)
  const fields: (string | undefined)[] = []
  for (const [index, start] of starts.entries()) {
    fields.push(keyOf(yaml.slice(start, starts[index + 1])) ?? fields[index - 1])
  }
  return (offset) => {
    const after = starts.findIndex((start) => start > offset)
    const index = (after < 0 ? starts.length : after) - 1
    const field = fields[index]
    const column = offset - (starts[index] ?? 0) + 1
    return { line: firstLine + index, column, ...(field !== undefined && { field }) }
  }
}
