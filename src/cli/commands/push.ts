import { once } from 'node:events'
import { basename } from 'node:path'
import { watch } from 'chokidar'
import type { Command } from 'commander'
import { isNoise } from '../../domain/bundle.ts'
import { settling } from '../../registry/settling.ts'
import { collect } from '../collect.ts'
import { EXIT, Failure } from '../failure.ts'
import { findPlaces } from '../find-skills.ts'
import { readLimits } from '../limits.ts'
import { startProgress } from '../progress.ts'
import { createPush, type Push } from '../push-skills.ts'
import { countResults, printCounts, printResult, type Result } from '../results.ts'
import { lenientOption, modeOf, openSession, type Session, type World } from '../session.ts'
import { toldError } from '../terminal.ts'

interface Options {
  lenient?: true
  dryRun?: true
  note?: string
  warnings?: true
  watch?: true
}

export function addPush(program: Command, world: World): void {
  program
    .command('push')
    .description('store skills: of folders, whole repositories, files and archives')
    .argument('<paths...>', 'what to store; a SKILL.md stands for its folder')
    .addOption(lenientOption())
    .option('--dry-run', 'tell what would be, and store nothing')
    .option('--note <note>', 'kept with the versions')
    .option('--warnings', 'show the warnings too')
    .option('--watch', 'go on, and store what changes until Ctrl-C')
    .action(async (paths: string[], options: Options, command: Command) => {
      const session = openSession(world, command)
      const { dryRun = false, note, warnings = false } = options
      const manner = { mode: modeOf(options), dryRun, note }
      const push = createPush({ client: session.client, manner, limits: readLimits(world.env) })
      const shown = { warnings, unchanged: false }
      if (options.watch) return pushChanges(session, paths, push, shown)
      const results = await collect(pushOnce(session, paths, push), (all) =>
        report(session, all, shown),
      )
      world.found = countResults(results).failed > 0
    })
}

interface Shown {
  warnings: boolean
  unchanged: boolean
}

function report({ terminal, json }: Session, results: readonly Result[], shown: Shown) {
  if (json) return terminal.printJson({ results, ...countResults(results) })
  for (const result of results) printResult(terminal, result, shown)
  printCounts(terminal, results, shown)
}

async function* pushOnce(
  { terminal }: Session,
  paths: readonly string[],
  push: Push,
): AsyncGenerator<Result> {
  const places = await findPlaces(paths)
  const progress = startProgress(terminal, 'Storing', places.length)
  try {
    for await (const results of push(places)) {
      yield* results
      progress.step(results.at(-1)?.path ?? '')
    }
  } finally {
    progress.stop()
  }
}

/** Ends at Ctrl-C. A service that is away for a while, or a broken skill, does not end it. */
async function pushChanges(
  { terminal, json, signal }: Session,
  paths: readonly string[],
  push: Push,
  shown: Shown,
): Promise<void> {
  const ignored = (path: string) => isNoise(basename(path)) || basename(path) === 'node_modules'
  const watcher = watch([...paths], { ignoreInitial: true, ignored })
  const settle = settling(pushAgain)
  const stopped = once(signal, 'abort')
  watcher.on('all', () => settle.touch('everything'))
  watcher.on('error', (error) => terminal.note(`loadskill: ${toldError(error)}`))
  try {
    await Promise.race([once(watcher, 'ready'), stopped])
    await settle.first(pushAgain)
    if (!signal.aborted) terminal.note('Watching: Ctrl-C ends it.')
    await stopped
  } finally {
    await watcher.close()
    await settle.close()
  }

  async function pushAgain(): Promise<void> {
    try {
      for await (const results of push(await findPlaces(paths))) {
        for (const result of results) {
          if (json) terminal.print(JSON.stringify(result))
          else printResult(terminal, result, { ...shown, unchanged: true })
        }
      }
    } catch (error) {
      if (error instanceof Failure && error.exitCode === EXIT.stopped) return
      terminal.note(`loadskill: ${toldError(error)}`)
    }
  }
}
