import type { Command } from 'commander'
import type { Static } from 'typebox'
import type { SkillResource, VersionResource } from '../../http/skill-resource.ts'
import { readVersionNumber } from '../arguments.ts'
import { skillPath } from '../client.ts'
import { printFault } from '../placed-fault.ts'
import { openSession, type World } from '../session.ts'
import { count, oneLine, plain, type Terminal } from '../terminal.ts'

type Shown = Static<typeof SkillResource> | Static<typeof VersionResource>

interface Options {
  raw?: true
}

export function addShow(program: Command, world: World): void {
  program
    .command('show')
    .description('show a skill: what is known of it, and its text')
    .argument('<name>')
    .argument('[version]', 'instead of the current one', readVersionNumber)
    .option('--raw', 'its SKILL.md alone, byte for byte')
    .action(
      async (name: string, version: number | undefined, options: Options, command: Command) => {
        const { client, terminal, json } = openSession(world, command)
        const path = skillPath(name, version)
        if (options.raw) {
          terminal.output.write(await client.bytes(`${path}/content`))
          return
        }
        const skill = await client.read<Shown>(path)
        if (json) terminal.printJson(skill)
        else printSkill(terminal, skill)
      },
    )
}

function printSkill(terminal: Terminal, skill: Shown): void {
  for (const [label, text] of factsOf(skill)) {
    if (text) terminal.print(`${terminal.paint('bold', label.padEnd(14))}${oneLine(text)}`)
  }
  for (const { path, size, media_type } of skill.files) {
    terminal.print(`${''.padEnd(14)}${oneLine(path)} (${count(size, 'byte')}, ${media_type})`)
  }
  for (const fault of skill.warnings) printFault(terminal, fault, 'warning')
  terminal.print()
  terminal.print(plain(skill.body).trimEnd())
}

const factsOf = (skill: Shown): [label: string, text: string | null][] => [
  ['name', skill.title === null ? skill.name : `${skill.name} (${skill.title})`],
  ['version', versionOf(skill)],
  ['declared', skill.declared_version],
  ['description', skill.description],
  ['tags', skill.tags.join(', ')],
  ['allowed-tools', skill.allowed_tools && (skill.allowed_tools.join(', ') || 'none')],
  ['license', skill.license],
  ['compatibility', skill.compatibility],
  ['tokens', `${skill.tokens.catalog} for its line, ${skill.tokens.body} for its text`],
  ['digest', skill.digest],
  ['files', skill.file_count > 0 ? count(skill.file_count, 'file') : null],
]

function versionOf(skill: Shown): string {
  if (!('latest_version' in skill)) {
    const { version, created_at, note, by } = skill
    return [version, created_at, by && `by ${by}`, note].filter(Boolean).join(', ')
  }
  const { version, latest_version: latest, enabled, updated_at } = skill
  const number = version === null ? `none, ${latest} is a draft` : `${version} of ${latest}`
  return `${number}, ${updated_at}${enabled ? '' : ', switched off'}`
}
