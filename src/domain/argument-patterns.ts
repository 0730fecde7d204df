import { readShellLine } from './shell-words.ts'
import { matchesGlob } from './tool-globs.ts'

const RUNS_COMMANDS = new Set(['bash', 'Bash'])
const TAKES_PATHS = new Set(['read_file', 'write_file', 'edit_file', 'Read', 'Write', 'Edit'])

/** As long as a path can be; what is longer fits no pattern. */
const MAX_PATH_CHARACTERS = 4096

/**
 * Whether the parentheses of an entry allow these arguments, the entry being one that names the
 * tool. `Bash(git:*)` and `Bash(git *)` allow every command that begins with these words,
 * `Bash(npm test)` that one alone; `Read(./src/**)` allows these paths. What stands in the
 * parentheses of any other tool limits nothing, for nobody said what it means.
 */
export function patternAllows(entry: string, toolName: string, input: unknown): boolean {
  const start = entry.indexOf('(')
  if (start < 0) return true
  const end = entry.lastIndexOf(')')
  const pattern = entry.slice(start + 1, end > start ? end : entry.length).trim()
  if (RUNS_COMMANDS.has(toolName)) return allowsCommand(pattern, textIn(input, 'command'))
  if (TAKES_PATHS.has(toolName)) return allowsPath(pattern, textIn(input, 'path'))
  return true
}

function textIn(input: unknown, key: string): string | undefined {
  const value = Object.getOwnPropertyDescriptor(Object(input), key)?.value
  return typeof value === 'string' ? value : undefined
}

/** A line of several commands passes no pattern: its first words say nothing of the others. */
function allowsCommand(pattern: string, command: string | undefined): boolean {
  if (pattern === '*' || pattern === ':*') return true
  if (command === undefined) return false
  const open = /[: ]\*$/.test(pattern)
  const wanted = wordsOf(open ? pattern.slice(0, -2) : pattern)
  const words = wordsOf(command)
  if (!wanted || !words || words.length < wanted.length) return false
  if (!open && words.length > wanted.length) return false
  return wanted.every((word, index) => allowsWord(word, words[index] ?? ''))
}

function wordsOf(line: string): string[] | undefined {
  const { commands, plain } = readShellLine(line.trim())
  return plain ? commands[0]?.words : undefined
}

/** `scripts/*.py` does not lead out of the folder. */
const allowsWord = (wanted: string, word: string): boolean =>
  wanted === word || (matchesGlob(wanted, word) && !/(?:^|\/)\.\.(?:\/|$)/.test(word))

/** `**` stands for any folders, `*` for characters of one name; `*.md` is looked for in any folder. */
function allowsPath(pattern: string, path: string | undefined): boolean {
  if (pattern === '*' || pattern === '**') return true
  if (path === undefined || path.length > MAX_PATH_CHARACTERS) return false
  if (pattern.startsWith('/') !== path.startsWith('/') && pattern.includes('/')) return false
  const parts = partsOf(path)
  const wanted = pattern.split('/').filter((part) => part !== '' && part !== '.')
  if (!pattern.includes('/')) wanted.unshift('**')
  return parts !== undefined && fits(wanted, parts)
}

/** Undefined for a path that leads out of where it begins. */
function partsOf(path: string): string[] | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part !== '..') {
      if (part !== '' && part !== '.') parts.push(part)
    } else if (parts.pop() === undefined) return undefined
  }
  return parts
}

/** As a wildcard is matched: only the last `**` is ever tried again, with one more folder. */
function fits(wanted: readonly string[], parts: readonly string[]): boolean {
  let want = 0
  let at = 0
  let retry: { want: number; at: number } | undefined
  while (at < parts.length) {
    const next = wanted[want]
    if (next === '**') {
      want++
      retry = { want, at }
    } else if (next !== undefined && matchesGlob(next, parts[at] ?? '')) {
      want++
      at++
    } else if (retry) {
      retry = { want: retry.want, at: retry.at + 1 }
      want = retry.want
      at = retry.at
    } else return false
  }
  return wanted.slice(want).every((part) => part === '**')
}
