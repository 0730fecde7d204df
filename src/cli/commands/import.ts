import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { formatOf } from '../../registry/archives/archive.ts'
import { usageFailure } from '../failure.ts'
import { countResults, printCounts, printResult } from '../results.ts'
import { lenientOption, modeOf, openSession, type World } from '../session.ts'
import { count } from '../terminal.ts'
import { uploadArchive } from '../upload.ts'

interface Options {
  lenient?: true
  dryRun?: true
  note?: string
  warnings?: true
}

export function addImport(program: Command, world: World): void {
  program
    .command('import')
    .description('store every skill of an archive; what is refused stops no other')
    .argument('<file>', 'a zip or a tar.gz; - is standard input')
    .addOption(lenientOption())
    .option('--dry-run', 'tell what would be, and store nothing')
    .option('--note <note>', 'kept with the versions')
    .option('--warnings', 'show the warnings too')
    .action(async (file: string, options: Options, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const bytes = file === '-' ? await buffer(terminal.input) : await readArchive(file)
      const format = formatOf(bytes)
      if (!format) throw usageFailure(`${JSON.stringify(file)} is neither a zip nor a tar.gz.`)
      const { dryRun = false, note, warnings = false } = options
      const manner = { mode: modeOf(options), dryRun, note }
      const { results, skipped } = await uploadArchive(client, file, { format, bytes }, manner)
      const counts = countResults(results)
      world.found = counts.failed > 0
      if (json) return terminal.printJson({ results, ...counts, skipped })
      for (const result of results) printResult(terminal, result, { warnings, unchanged: false })
      printCounts(terminal, results, { warnings, unchanged: false })
      if (skipped.length > 0)
        terminal.print(`${count(skipped.length, 'file')} of no skill left out.`)
    })
}

async function readArchive(file: string): Promise<Buffer> {
  const found = await stat(file).catch(() => undefined)
  if (!found) throw usageFailure(`There is no ${JSON.stringify(file)}.`)
  if (!found.isFile())
    throw usageFailure(`${JSON.stringify(file)} is a folder: push takes folders.`)
  return readFile(file)
}
