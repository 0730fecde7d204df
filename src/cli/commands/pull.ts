import { join } from 'node:path'
import type { Command } from 'commander'
import { NAME_PATTERN } from '../../domain/skill.ts'
import { readVersionNumber } from '../arguments.ts'
import { collect } from '../collect.ts'
import { downloadSkill } from '../download.ts'
import { EXIT, Failure, usageFailure } from '../failure.ts'
import { readLimits } from '../limits.ts'
import { type Written, writeFolder } from '../local-folder.ts'
import { startProgress } from '../progress.ts'
import { openSession, type Session, type World } from '../session.ts'
import { count } from '../terminal.ts'
import type { Skill } from './list.ts'

const SKILL_NAME = new RegExp(NAME_PATTERN)

interface Options {
  all?: true
  number?: number
  force?: true
}

interface Pulled {
  name: string
  path: string
  status: Written | 'failed'
  reason?: string
}

export function addPull(program: Command, world: World): void {
  program
    .command('pull')
    .description('write skills into folders of their names')
    .usage('[options] <name...> <dir> | --all <dir>')
    .argument('<names-and-dir...>', 'the names, and last the folder that is to hold them')
    .option('--all', 'every skill')
    .option('--number <version>', 'that version instead of the current one', readVersionNumber)
    .option('--force', 'replace what was changed in the folders')
    .action(async (given: string[], options: Options, command: Command) => {
      const session = openSession(world, command)
      const dir = given.at(-1) ?? '.'
      const named = given.slice(0, -1)
      if (options.all ? named.length > 0 : named.length === 0) {
        throw usageFailure('Name the skills and then the folder, or --all and the folder.')
      }
      const names = options.all ? await currentNames(session) : named
      const limits = readLimits(world.env)
      const { force = false } = options

      async function pull(name: string): Promise<Pulled> {
        if (!SKILL_NAME.test(name))
          throw usageFailure(`${JSON.stringify(name)} is no skill's name.`)
        const files = await downloadSkill(session.client, name, options.number, limits)
        const path = join(dir, name)
        return { name, path, status: await writeFolder(path, files, { limits, force }) }
      }
      const pulled = await collect(eachOf(session, names, pull), (all) => report(session, all))
      world.found = pulled.some(({ status }) => status === 'failed')
    })
}

/** Drafts have nothing to pull. */
async function currentNames({ client }: Session): Promise<string[]> {
  const skills = await client.list<Skill>('/skills')
  return skills.filter(({ version }) => version !== null).map(({ name }) => name)
}

/** A folder that must not be replaced stops no other skill. */
async function* eachOf(
  { terminal }: Session,
  names: readonly string[],
  pull: (name: string) => Promise<Pulled>,
): AsyncGenerator<Pulled> {
  const progress = startProgress(terminal, 'Reading', names.length)
  try {
    for (const name of names) {
      yield await pull(name).catch((error) => toFailed(name, error))
      progress.step(name)
    }
  } finally {
    progress.stop()
  }
}

function toFailed(name: string, error: unknown): Pulled {
  if (!(error instanceof Failure) || error.exitCode !== EXIT.found) throw error
  return { name, path: '', status: 'failed', reason: error.message }
}

function report({ terminal, json }: Session, pulled: readonly Pulled[]) {
  if (json) return terminal.printJson({ results: pulled })
  for (const { name, path, status, reason = path } of pulled) {
    if (status !== 'unchanged') terminal.print(`${status.padEnd(10)} ${name} (${reason})`)
  }
  const changed = pulled.filter(({ status }) => status !== 'unchanged' && status !== 'failed')
  terminal.print(`${count(pulled.length, 'skill')}, ${changed.length} written.`)
}
