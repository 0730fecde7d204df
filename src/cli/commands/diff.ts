import { isUtf8 } from 'node:buffer'
import type { Command } from 'commander'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { BundleFile } from '../../domain/skill.ts'
import { readVersionNumber } from '../arguments.ts'
import { skillPath } from '../client.ts'
import { downloadSkill } from '../download.ts'
import { usageFailure } from '../failure.ts'
import { readLimits } from '../limits.ts'
import { openSession, type World } from '../session.ts'
import { oneLine, plain, type Style, type Terminal } from '../terminal.ts'
import type { Skill } from './list.ts'

interface Difference {
  path: string
  status: 'added' | 'removed' | 'changed'
  /** Null of what is no text. */
  patch: string | null
}

export function addDiff(program: Command, world: World): void {
  program
    .command('diff')
    .description('show what differs between two versions of a skill, as a unified diff')
    .argument('<name>')
    .argument('<from>', 'a version', readVersionNumber)
    .argument('[to]', 'a version; the current one by default', readVersionNumber)
    .action(async (name: string, from: number, given: number | undefined, _, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const to = given ?? (await client.read<Skill>(skillPath(name))).version
      if (to === null) throw usageFailure(`"${name}" has no current version: name both.`)
      const limits = readLimits(world.env)
      const before = await downloadSkill(client, name, from, limits)
      const after = await downloadSkill(client, name, to, limits)
      const files = compare(before, after, { from, to })
      if (json) return terminal.printJson({ name, from, to, files })
      if (files.length === 0) return terminal.print(`Versions ${from} and ${to} are the same.`)
      for (const file of files) printDifference(terminal, file)
    })
}

function compare(
  before: readonly BundleFile[],
  after: readonly BundleFile[],
  { from, to }: { from: number; to: number },
): Difference[] {
  const [old, now] = [before, after].map(
    (files) => new Map(files.map(({ path, bytes }) => [path, Buffer.from(bytes)])),
  ) as [Map<string, Buffer>, Map<string, Buffer>]
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path) => {
    const [left, right] = [old.get(path), now.get(path)]
    if (left && right?.equals(left)) return []
    const status = left ? (right ? 'changed' : 'removed') : 'added'
    return [{ path, status, patch: patchOf(path, left, right, { from, to }) }]
  })
}

function patchOf(
  path: string,
  left: Buffer | undefined,
  right: Buffer | undefined,
  { from, to }: { from: number; to: number },
): string | null {
  const both = [left, right].map((bytes) => bytes ?? Buffer.alloc(0)) as [Buffer, Buffer]
  if (!both.every((bytes) => isUtf8(bytes) && !bytes.includes(0))) return null
  return createTwoFilesPatch(
    left ? path : '/dev/null',
    right ? path : '/dev/null',
    both[0].toString(),
    both[1].toString(),
    left && `version ${from}`,
    right && `version ${to}`,
    { headerOptions: FILE_HEADERS_ONLY },
  )
}

const STYLES: [start: string, style: Style][] = [
  ['---', 'bold'],
  ['+++', 'bold'],
  ['@@', 'cyan'],
  ['-', 'red'],
  ['+', 'green'],
]

function printDifference(terminal: Terminal, { path, status, patch }: Difference) {
  if (patch === null) return terminal.print(`Binary file ${oneLine(path)}: ${status}`)
  for (const line of plain(patch).trimEnd().split('\n')) {
    const style = STYLES.find(([start]) => line.startsWith(start))?.[1]
    terminal.print(style ? terminal.paint(style, line) : line)
  }
}
