import type { Diagnostics } from './diagnostics.ts'
import { excerpt } from './excerpt.ts'

/** The frontmatter as it lies in a file's text. */
export interface Block {
  /** What stands between the two `---`, every line with its break. */
  yaml: string
  /** Where `yaml` begins in the text, and on which line of the file. */
  start: number
  line: number
  /** Where the text behind the block and its blank lines begins. */
  bodyStart: number
}

interface Fence {
  start: number
  /** Of its line, before the break. */
  end: number
}

const FENCE = /^---[ \t]*$/
const LANGUAGE = /^---[ \t]*([\p{L}\p{N}_][^\s:]*)[ \t]*$/u
const IDENTITY = /^(?:name|description)[ \t]*:(?:\s|$)/

/**
 * Cuts at lines that are `---` and nothing else. Undefined when there is no block and the mode
 * does without.
 */
export function cutBlock(text: string, diagnostics: Diagnostics): Block | undefined {
  const firstLine = text.slice(0, lineEnd(text, 0))
  if (FENCE.test(firstLine))
    return cutBehind(text, { start: 0, end: firstLine.length }, diagnostics)

  const language = LANGUAGE.exec(firstLine)?.[1]
  if (language !== undefined) {
    const what = `only YAML is read, not ${excerpt(language)}: line 1 must be "---" alone.`
    diagnostics.abort('frontmatter_language', what, { line: 1 })
  }
  const lower = findLowerBlock(text)
  if (!lower) {
    const what =
      'it must begin with a line "---", then "name: …", "description: …" and a line "---".'
    diagnostics.rescue('frontmatter_missing', what, { line: 1 })
    diagnostics.throwIfRefused()
    return undefined
  }
  const before = text.slice(0, lower.start)
  const place = { line: lineAt(text, lower.start) }
  const what = `the frontmatter begins on line ${place.line}, behind ${kindOf(before)}: its "---" must be line 1.`
  if (!isSkippable(before)) diagnostics.abort('frontmatter_not_first', what, place)
  diagnostics.rescue('frontmatter_not_first', what, place)
  diagnostics.throwIfRefused()
  return cutBehind(text, lower, diagnostics)
}

function cutBehind(text: string, open: Fence, diagnostics: Diagnostics): Block {
  const start = Math.min(open.end + 1, text.length)
  const line = lineAt(text, open.start) + 1
  const close = findFence(text, start)
  if (close) {
    const yaml = text.slice(start, close.start)
    return { yaml, start, line, bodyStart: skipBlankLines(text, close.end + 1) }
  }
  const place = { line: line - 1 }
  const what = 'the frontmatter is never closed: put a line "---" behind its last key.'
  const rough = text.startsWith('---', start) ? start : text.indexOf('\n---', start) + 1
  if (rough === 0) diagnostics.abort('frontmatter_unterminated', what, place)
  diagnostics.rescue('frontmatter_unterminated', what, place)
  diagnostics.throwIfRefused()
  const yaml = text.slice(start, rough)
  return { yaml, start, line, bodyStart: skipBlankLines(text, rough + '---'.length) }
}

function findFence(text: string, from: number): Fence | undefined {
  for (let start = from; ; ) {
    const end = lineEnd(text, start)
    if (FENCE.test(text.slice(start, end))) return { start, end }
    const before = text.indexOf('\n---', start)
    if (before < 0) return undefined
    start = before + 1
  }
}

/** The first `---` below line 1, when what it opens says a name or a description and is closed. */
function findLowerBlock(text: string): Fence | undefined {
  const open = findFence(text, 0)
  const close = open && findFence(text, open.end + 1)
  if (!close) return undefined
  const lines = text.slice(open.end + 1, close.start).split('\n')
  return lines.some((line) => IDENTITY.test(line)) ? open : undefined
}

/** Whether a text is blank lines and whole HTML comments only. */
function isSkippable(text: string): boolean {
  let rest = text.trimStart()
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->')
    if (end < 0) return false
    rest = rest.slice(end + '-->'.length).trimStart()
  }
  return rest === ''
}

function kindOf(before: string): string {
  const start = before.trimStart()
  if (start === '') return 'blank lines'
  if (isSkippable(start)) return 'an HTML comment'
  if (start.startsWith('```')) return 'the opening of a code block'
  return start.startsWith('#') ? 'a heading' : 'other text'
}

function skipBlankLines(text: string, from: number): number {
  const visible = /[^ \t\n]/g
  visible.lastIndex = from
  const found = visible.exec(text)
  return found ? Math.max(from, text.lastIndexOf('\n', found.index) + 1) : text.length
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** The line, from 1, that an offset lies on. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
