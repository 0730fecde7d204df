import { excerpt } from './excerpt.ts'
import type { YamlFault } from './yaml.ts'

const KEY = /^["']?([\p{L}\p{N}_./-]+)["']?[ \t]*:(?=\s|$)/u
const BEFORE_VALUE = /^[ \t]*(?:-[ \t]+)*(?:["']?[\p{L}\p{N}_./-]+["']?[ \t]*:(?:[ \t]+|$))?/u

/** The key that a line begins with, when it stands at the left edge. */
export const keyOf = (line: string): string | undefined => KEY.exec(line)?.[1]

/** A line in two: what leads to its value (blanks, dashes, a key), and the value. */
export function splitLine(line: string): [lead: string, value: string] {
  const lead = BEFORE_VALUE.exec(line)?.[0] ?? ''
  return [lead, line.slice(lead.length)]
}

/** What is wrong with a line of YAML, and what to type instead. */
export function advise({ reason, message }: YamlFault, line: string): string {
  const fixed = FIXED_ADVICE[reason]
  if (fixed) return fixed
  if (reason === 'ANCHOR') return `write the value out instead of the anchor ${excerpt(message)}.`
  if (reason === 'DIRECTIVE') return `remove the line ${excerpt(message)}.`
  const [lead, value] = splitLine(line)
  const subject = subjectOf(lead)
  const first = value.slice(0, 1)
  const byFirst = FIRST_CHARACTER[first]
  if (byFirst)
    return `${subject} begins with ${'`"'.includes(first) ? `'${first}'` : `"${first}"`}${byFirst}`
  if (reason === 'BLOCK_AS_IMPLICIT_KEY') {
    return `${subject} holds ": " and must be quoted: put it between double quotes.`
  }
  if (keyOf(line.trim()) === undefined) {
    return 'this line is no "key: value": indent it when it belongs to the line above, or quote that value.'
  }
  return `${message.slice(0, 1).toLowerCase()}${message.slice(1)}: check the quotes and the indentation.`
}

/** An anchored or reserved character, an open quote or bracket: what the rest of the line says. */
const FIRST_CHARACTER: Record<string, string> = {
  '*': ' and must be quoted: put it between double quotes.',
  '@': ' and must be quoted: put it between double quotes.',
  '%': ' and must be quoted: put it between double quotes.',
  '`': ' and must be quoted: put it between double quotes.',
  '"': ' and must end with the same: quote the whole value, and write \\" for a double quote inside.',
  "'": " and must end with the same: quote the whole value, and write '' for a single quote inside.",
  '[': ' and must end with "]" on an indented line: close it, or quote the value when it is text.',
  '{': ' and must end with "}" on an indented line: close it, or quote the value when it is text.',
  '|': ': begin its text on the next line, indented by two blanks.',
  '>': ': begin its text on the next line, indented by two blanks.',
  '!': ', which names a type that is not known: remove it, or quote the value.',
}

const FIXED_ADVICE: Record<string, string | undefined> = {
  BAD_DQ_ESCAPE:
    'a backslash between double quotes begins an escape: write \\\\ or use single quotes.',
  CONTROL: 'it holds a control character: remove it.',
  ESCAPE: 'an escape stands for NUL or half of a character: remove it.',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters: make it shorter.',
  KEYS: 'there are more than 256 keys: move some of them into the body or into a file.',
  LEVELS: 'values are nested more than 16 levels deep: make them flatter.',
  MERGE: 'write the keys out instead of merging them with "<<".',
  MULTIPLE_DOCS: 'a second YAML document begins here: remove the line "..." or "---" before it.',
  NON_STRING_KEY: 'a key must be text: write it as "key: value".',
  TAB_AS_INDENT: 'the line is indented with a tab: use blanks.',
}

function subjectOf(lead: string): string {
  const key = keyOf(lead.trim().replace(/^[- \t]+/, ''))
  return key === undefined ? 'the value' : `the value of "${key}"`
}
