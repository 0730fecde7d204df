import { programsIn, type ShellProgram, UNREADABLE } from './shell-programs.ts'

/*
 * These rules keep a model from harm by accident. What keeps out malice is the sandbox: a line can
 * always be written so that nobody sees what it does (`x=rm; $x -rf /`).
 */

const REMOVES = new Set(['rm', 'del', 'erase', 'rmdir', 'rd', 'unlink', 'shred', UNREADABLE])
const NEVER = new Set(['sudo', 'shutdown', 'reboot', 'mkfs'])
const BLOCK_DEVICE =
  /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|rdisk|disk|dm-|md|loop|ram|sr|mapper\/|block\/|k?mem$)/
const EVERYBODY_MAY_WRITE = /^(?:[0-7]?777|(?:a|ugo|o|)?[+=]rwx)$/

/** Why a command is never run, whoever approves it; undefined when it may be. */
export function refusedCommand(command: string): string | undefined {
  const { programs, written } = programsIn(command)
  for (const program of programs) {
    const what = neverRun(program)
    if (what !== undefined) return `The command was refused: ${what} is never run here.`
    written.push(...filesWritten(program))
  }
  const device = written.map(normalize).find((path) => BLOCK_DEVICE.test(path))
  if (device === undefined) return undefined
  return `The command was refused: nothing is written to the device ${device} here.`
}

/** Whether a command has to be approved: it removes files, writes to /etc or opens a file to all. */
export function asksFirst(command: string): boolean {
  const { programs, written } = programsIn(command)
  for (const program of programs) {
    const { name, args } = program
    if (REMOVES.has(name)) return true
    if (name === 'chmod' && args.some((arg) => EVERYBODY_MAY_WRITE.test(arg))) return true
    written.push(...filesWritten(program))
  }
  return written.some((path) => /^\/etc(?:\/|$)/.test(normalize(path)))
}

function neverRun({ name, args }: ShellProgram): string | undefined {
  if (NEVER.has(name)) return `"${name}"`
  if (name.startsWith('mkfs.')) return '"mkfs"'
  if (name === 'dd' && args.some((arg) => arg.startsWith('if='))) return '"dd if="'
  return name === 'rm' && removesRoot(args) ? '"rm -rf /"' : undefined
}

function removesRoot(args: readonly string[]): boolean {
  if (args.includes('--no-preserve-root')) return true
  const recursive = args.some((arg) => /^-[a-z]*r/i.test(arg) || arg === '--recursive')
  return recursive && args.some((arg) => arg.startsWith('/') && /^\/[.?*]*$/.test(normalize(arg)))
}

/** What a program writes that is named in its arguments. */
function filesWritten({ name, args }: ShellProgram): readonly string[] {
  switch (name) {
    case 'tee':
    case 'touch':
    case 'truncate':
      return args
    case 'cp':
    case 'mv':
    case 'ln':
    case 'install': {
      const folder = args.indexOf('-t')
      return folder < 0 ? args.slice(-1) : args.slice(folder + 1, folder + 2)
    }
    case 'sed':
      return args.some((arg) => /^(?:-[a-z]*i|--in-place)/i.test(arg)) ? args : []
    case 'dd':
      return args.flatMap((arg) => (arg.startsWith('of=') ? [arg.slice(3)] : []))
    default:
      return []
  }
}

function normalize(path: string): string {
  if (!path.startsWith('/')) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}
