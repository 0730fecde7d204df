import type { Command } from 'commander'
import type { Static } from 'typebox'
import type { WrittenSkill } from '../../http/skill-resource.ts'
import { readVersionNumber } from '../arguments.ts'
import { skillPath } from '../client.ts'
import { openSession, type World } from '../session.ts'

export function addRollback(program: Command, world: World): void {
  program
    .command('rollback')
    .description('make another version of a skill the current one, back or forward')
    .argument('<name>')
    .argument('<version>', 'its number', readVersionNumber)
    .action(async (name: string, version: number, _: object, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const change = { current_version: version }
      const skill = await client.send<Static<typeof WrittenSkill>>('PATCH', skillPath(name), change)
      if (json) return terminal.printJson(skill)
      terminal.print(`${name} is at version ${skill.version} of ${skill.latest_version} now.`)
    })
}
