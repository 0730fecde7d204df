import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { withQuery } from '../client.ts'
import { EXIT, Failure } from '../failure.ts'
import { openSession, type World } from '../session.ts'
import { count } from '../terminal.ts'

const STANDARD_OUTPUT = '-'

export function addExport(program: Command, world: World): void {
  program
    .command('export')
    .description('write every skill into one archive, for import')
    .argument('[file]', 'a .zip or a .tgz; - is standard output', 'skills.tgz')
    .action(async (file: string, _: object, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const format = /\.zip$/i.test(file) ? 'zip' : 'tgz'
      const { body } = await client.call(withQuery('/export', { format }))
      if (!body) throw new Failure(EXIT.refused, 'The service sent an empty answer.')
      const archive = Readable.fromWeb(body)
      if (file === STANDARD_OUTPUT) return pipeline(archive, terminal.output, { end: false })
      const bytes = await writeWhole(file, archive)
      if (json) return terminal.printJson({ file, bytes })
      terminal.print(`${file}: ${count(bytes, 'byte')}.`)
    })
}

/** The file is there once it is whole. */
async function writeWhole(file: string, archive: Readable): Promise<number> {
  const part = `${file}.${process.pid}.part`
  try {
    const out = createWriteStream(part, { flags: 'wx' })
    await pipeline(archive, out)
    await rename(part, file)
    return out.bytesWritten
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
