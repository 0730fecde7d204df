import { readShellLine, type ShellCommand } from './shell-words.ts'

/** What a command line would run, with what in front of it taken away: `env X=1 /bin/rm -f a`. */
export interface ShellProgram {
  /** In lower case, without folder and ending. */
  name: string
  args: readonly string[]
}

/** What is nested too deep to be read. */
export const UNREADABLE = '(nested too deep)'
const MAX_DEPTH = 8

const RESERVED = new Set('! { } if then elif else fi while until do done time coproc'.split(' '))
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish'])
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir'])
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
/** It may well be empty, as in `$SUDO rm`. */
const VARIABLE = /^\$(?:\w+|\{\w+\})$/

interface Wrapper {
  /** Options whose value is the next word. */
  valued: readonly string[]
  /** How many words of its own stand before the command that it runs. */
  operands: number
}

const wrapper = (valued: string, operands = 0): Wrapper => ({ valued: valued.split(' '), operands })

/** Programs that run the command which they are given as words. */
const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['env', wrapper('-u --unset -C --chdir')],
  ['command', wrapper('')],
  ['builtin', wrapper('')],
  ['exec', wrapper('-a')],
  ['nohup', wrapper('')],
  ['setsid', wrapper('')],
  ['busybox', wrapper('')],
  ['time', wrapper('-f --format -o --output')],
  ['nice', wrapper('-n --adjustment')],
  ['ionice', wrapper('-c --class -n --classdata')],
  ['stdbuf', wrapper('-i --input -o --output -e --error')],
  ['timeout', wrapper('-s --signal -k --kill-after', 1)],
  ['chroot', wrapper('', 1)],
  ['xargs', wrapper('-n --max-args -I -P --max-procs -L --max-lines -s -d --delimiter -a -E')],
  ['sudo', wrapper('-u --user -g --group -h -p -C -D -r -t -T -U')],
  ['doas', wrapper('-u -C')],
])

/** Every program that a line would start, wrappers among them, and every file it redirects into. */
export function programsIn(text: string): { programs: ShellProgram[]; written: string[] } {
  const programs: ShellProgram[] = []
  const written: string[] = []

  function readText(line: string, depth: number): void {
    if (depth > MAX_DEPTH) programs.push({ name: UNREADABLE, args: [] })
    else for (const command of readShellLine(line).commands) readCommand(command, depth)
  }

  function readCommand({ words, redirections }: ShellCommand, depth: number): void {
    const runsShell = readWords(words, depth)
    for (const { operator, target } of redirections) {
      if (operator.includes('>')) written.push(target)
      else if (runsShell && operator.startsWith('<<')) readText(target, depth + 1)
    }
  }

  /** Whether it is a shell, to which text can be given. */
  function readWords(words: readonly string[], depth: number): boolean {
    let at = 0
    for (let word = words[at]; word !== undefined; word = words[at]) {
      const isSkipped = RESERVED.has(word) || ASSIGNMENT.test(word) || VARIABLE.test(word)
      if (isSkipped || word.endsWith('()')) {
        at++
        continue
      }
      const name = nameOf(word)
      const wraps = WRAPPERS.get(name)
      if (!wraps) {
        readProgram({ name, args: words.slice(at + 1) }, depth)
        return SHELLS.has(name)
      }
      programs.push({ name, args: [] })
      at = skipOptions(words, at + 1, wraps)
    }
    return false
  }

  function readProgram(program: ShellProgram, depth: number): void {
    const { name, args } = program
    programs.push(program)
    if (name === 'eval') readText(args.join(' '), depth + 1)
    if (SHELLS.has(name)) {
      const option = args.findIndex((arg) => /^-[a-z]*c[a-z]*$/.test(arg))
      const code = option < 0 ? undefined : args.slice(option + 1).find((arg) => !/^[-+]/.test(arg))
      if (code !== undefined) readText(code, depth + 1)
    }
    if (name === 'find') readFind(args, depth + 1)
  }

  function readFind(args: readonly string[], depth: number): void {
    if (depth > MAX_DEPTH) programs.push({ name: UNREADABLE, args: [] })
    else {
      let start: number | undefined
      for (const [index, arg] of [...args, ';'].entries()) {
        if (start !== undefined && (arg === ';' || arg === '+')) {
          readWords(args.slice(start, index), depth)
          start = undefined
        } else if (start === undefined && FIND_RUNS.has(arg)) start = index + 1
        else if (start === undefined && arg === '-delete') programs.push({ name: 'rm', args: [] })
      }
    }
  }

  readText(text, 0)
  return { programs, written }
}

function skipOptions(words: readonly string[], from: number, { valued, operands }: Wrapper) {
  let at = from
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    at += valued.includes(word) ? 2 : 1
    if (word === '--') break
  }
  return at + operands
}

/** Options of Windows may be attached to the name: `del/s/q`. */
function nameOf(word: string): string {
  const lower = word.toLowerCase()
  const [, attached] = /^([a-z]+)(?:\/[a-z?](?::[a-z-]*)?)+$/.exec(lower) ?? []
  return attached ?? lower.slice(lower.lastIndexOf('/') + 1).replace(/\.exe$/, '')
}
