import type { Command } from 'commander'
import { withQuery } from '../client.ts'
import { openSession, type World } from '../session.ts'
import { printTable } from '../table.ts'
import type { Skill } from './list.ts'

const SCORE_DIGITS = 3

export function addSearch(program: Command, world: World): void {
  program
    .command('search')
    .description('find skills by words, the best first')
    .argument('<words...>')
    .option('--limit <number>', 'at most that many, 1 to 100', '10')
    .action(async (words: string[], { limit }: { limit: string }, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const path = withQuery('/skills', { q: words.join(' '), limit })
      const { data } = await client.read<{ data: Skill[] }>(path)
      if (json) return terminal.printJson(data)
      if (data.length === 0) return terminal.print('No skill fits.')
      printTable(terminal, ['SCORE', 'NAME', 'VERSION', 'DESCRIPTION'], data.map(toRow))
    })
}

const toRow = ({ score = 0, name, version, description }: Skill) => [
  score.toFixed(SCORE_DIGITS),
  name,
  version ?? 'draft',
  description,
]
