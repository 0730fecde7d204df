import { type Command, Option } from 'commander'
import type { Static } from 'typebox'
import type { SkillHitResource } from '../../http/skill-resource.ts'
import { openSession, type World } from '../session.ts'
import { printTable } from '../table.ts'
import { count } from '../terminal.ts'

export type Skill = Static<typeof SkillHitResource>

interface Options {
  tag?: string[]
  tool?: string
  disabled?: true
  source?: string
}

export function addList(program: Command, world: World): void {
  program
    .command('list')
    .description('list the skills, by name')
    .option('--tag <tag...>', 'that have every one of these tags')
    .option('--tool <tool>', 'that have this entry in allowed-tools')
    .option('--disabled', 'that are switched off')
    .addOption(
      new Option('--source <source>', 'where they came from').choices(['api', 'directory']),
    )
    .action(async ({ tag, tool, disabled, source }: Options, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const query = { tag, tool, source, enabled: disabled && false }
      const skills = await client.list<Skill>('/skills', query)
      if (json) return terminal.printJson(skills)
      if (skills.length > 0) printTable(terminal, HEAD, skills.map(toRow))
      terminal.print(`${count(skills.length, 'skill')}.`)
    })
}

const HEAD = ['NAME', 'VERSION', 'TOKENS', 'TAGS', 'DESCRIPTION']

const toRow = ({ name, version, enabled, tokens, tags, description }: Skill) => [
  name,
  `${version ?? 'draft'}${enabled ? '' : ' (off)'}`,
  tokens.body,
  tags.join(', '),
  description,
]
