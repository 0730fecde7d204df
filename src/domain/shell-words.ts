/** One program with its words, quotes taken away. Expansions stand as they were written. */
export interface ShellCommand {
  words: string[]
  redirections: Redirection[]
}

interface Redirection {
  operator: string
  /** A file; for `<<` and `<<<` the text itself. */
  target: string
}

export interface ShellLine {
  /** Also those inside groups and substitutions, in no particular order. */
  commands: ShellCommand[]
  /** Whether it is one command and nothing else: no list, pipe, group, substitution, redirection. */
  plain: boolean
}

/** A group or a substitution, while it is read. */
interface Frame {
  closer: '' | ')' | '`'
  command: ShellCommand
  word: string | undefined
  /** Some of the word was quoted. */
  escaped: boolean
  /** Inside double quotes. */
  quoted: boolean
  /** The operator whose target comes next. */
  operator: string | undefined
  /** Parentheses that belong to a word, as in `print(x)`. */
  parentheses: number
}

const newFrame = (closer: Frame['closer']): Frame => ({
  closer,
  command: { words: [], redirections: [] },
  word: undefined,
  escaped: false,
  quoted: false,
  operator: undefined,
  parentheses: 0,
})

const OPERATOR = /&>>|&>|>>|>\||>&|<>|<&|<<<|<<-|<<|>|</y
const VARIABLE = /\$\{\w{1,100}\}/y
const ESCAPED_IN_QUOTES = '"$`\\\n'

/**
 * Splits a line for a POSIX shell into its commands, in one pass. It reads what a shell reads but
 * runs nothing, and so fills in no variables.
 */
export function readShellLine(text: string): ShellLine {
  const commands: ShellCommand[] = []
  const outer: Frame[] = []
  let frame = newFrame('')
  let plain = true
  let backticks = 0
  let at = 0
  let documents: { redirection: Redirection; escaped: boolean }[] = []
  let readsDocuments = true

  function add(more: string, length = more.length): void {
    frame.word = (frame.word ?? '') + more
    at += length
  }

  function endWord(): void {
    const { word, operator, escaped, command } = frame
    if (word === undefined) return
    if (operator === undefined) command.words.push(word)
    else {
      const redirection = { operator, target: word }
      command.redirections.push(redirection)
      if (/^<<-?$/.test(operator)) documents.push({ redirection, escaped })
    }
    Object.assign(frame, { word: undefined, operator: undefined, escaped: false })
  }

  function endCommand(): void {
    endWord()
    const { words, redirections } = frame.command
    if (words.length > 0 || redirections.length > 0) commands.push(frame.command)
    frame.command = { words: [], redirections: [] }
    frame.operator = undefined
    frame.parentheses = 0
  }

  function open(closer: ')' | '`'): void {
    plain = false
    outer.push(frame)
    frame = newFrame(closer)
    if (closer === '`') backticks++
  }

  function close(): void {
    endCommand()
    if (frame.closer === '`') backticks--
    frame = outer.pop() ?? newFrame('')
  }

  /** What means something inside double quotes as well. */
  function readAnywhere(character: string, next: string): boolean {
    if (character === '\\') {
      frame.escaped = true
      if (frame.quoted && !ESCAPED_IN_QUOTES.includes(next)) add('\\', 0)
      // An escaped line break is nothing at all.
      if (next === '\n') at += 2
      else add(next, 2)
    } else if (character === '"') {
      frame.quoted = !frame.quoted
      frame.escaped = true
      add('', 1)
    } else if (character === '`' && backticks === 0) {
      add('`')
      open('`')
    } else if (character === '`') {
      while (frame.closer !== '`') close()
      close()
      at++
    } else if (character === '$' && next === '(') {
      add('$(')
      open(')')
    } else if (character === '$' && '{['.includes(next) && !isVariable()) {
      // Quotes in an expansion follow rules of their own, so nobody knows where it ends.
      plain = false
      add(character)
    } else if (frame.quoted) add(character)
    else return false
    return true
  }

  function isVariable(): boolean {
    VARIABLE.lastIndex = at
    return VARIABLE.test(text)
  }

  function readUnquoted(character: string, next: string): void {
    const isOperator = '<>'.includes(character) || (character === '&' && next === '>')
    if (character === "'" || (character === '$' && next === "'")) readSingleQuotes(character)
    else if (character === ' ' || character === '\t') {
      endWord()
      at++
    } else if (character === '#' && frame.word === undefined) {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    } else if (isOperator && character !== '&' && next === '(') {
      add(`${character}(`)
      open(')')
    } else if (isOperator) readOperator()
    else if (character === '(' && frame.word !== undefined) {
      frame.parentheses++
      add(character)
    } else if (character === ')' && frame.parentheses > 0) {
      frame.parentheses--
      add(character)
    } else if (/[();&|\n]/.test(character)) {
      plain = false
      endCommand()
      if (character === '(') open(')')
      else if (character === ')' && frame.closer === ')') close()
      at++
      if (character === '\n') readDocuments()
    } else add(character)
  }

  /** `'…'`, and `$'…'` in which a backslash escapes. */
  function readSingleQuotes(first: string): void {
    const escapes = first === '$'
    const start = at + (escapes ? 2 : 1)
    let end = start
    while (end < text.length && text[end] !== "'") end += escapes && text[end] === '\\' ? 2 : 1
    if (end >= text.length) plain = false
    frame.escaped = true
    add(text.slice(start, end), end + 1 - at)
  }

  function readOperator(): void {
    OPERATOR.lastIndex = at
    const operator = OPERATOR.exec(text)?.[0] ?? text.charAt(at)
    if (/^\d+$/.test(frame.word ?? '')) frame.word = undefined
    endWord()
    frame.operator = operator
    plain = false
    at += operator.length
  }

  /**
   * Here-documents are text, not commands. One that never ends, or in which something would be
   * substituted, is read on as if its lines were commands; and so is all behind it.
   */
  function readDocuments(): void {
    for (const { redirection, escaped } of documents) {
      if (!readsDocuments) break
      const indented = redirection.operator === '<<-'
      const end = findLine(text, at, redirection.target, indented)
      const body = text.slice(at, end?.start)
      if (!end || (!escaped && /\$\(|`/.test(body))) readsDocuments = false
      else {
        redirection.target = body
        at = end.behind
      }
    }
    documents = []
  }

  while (at < text.length) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (!readAnywhere(character, next)) readUnquoted(character, next)
  }
  if (frame.quoted || outer.length > 0) plain = false
  while (outer.length > 0) close()
  endCommand()
  return { commands, plain: plain && commands.length === 1 }
}

/** The first line from `from` on that says just this. */
function findLine(text: string, from: number, wanted: string, indented: boolean) {
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const line = text.slice(start, end)
    if ((indented ? line.replace(/^\t+/, '') : line) === wanted) return { start, behind: end }
    start = end + 1
  }
  return undefined
}
