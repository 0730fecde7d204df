import { type Command, Option } from 'commander'
import type { BundleLimits } from '../../domain/bundle.ts'
import type { Mode } from '../../domain/diagnostics.ts'
import type { Fault } from '../../errors.ts'
import { usageFailure } from '../failure.ts'
import { findPlaces, type SkillPlace } from '../find-skills.ts'
import { readLimits } from '../limits.ts'
import { nameConflicts } from '../name-conflicts.ts'
import { printFault, toAnnotation } from '../placed-fault.ts'
import { checkSkill, readSkill } from '../read-skill.ts'
import { lenientOption, modeOf, type World } from '../session.ts'
import { count } from '../terminal.ts'

interface Options {
  lenient?: true
  format?: 'text' | 'json' | 'github'
  json?: boolean
}

interface Validated {
  path: string
  name: string | null
  valid: boolean
  errors: Fault[]
  warnings: Fault[]
}

export function addValidate(program: Command, world: World): void {
  program
    .command('validate')
    .description('check every skill in folders or files, without a service')
    .argument('[paths...]', 'where to look', ['.'])
    .addOption(lenientOption())
    .addOption(
      new Option('--format <format>', 'github in its Actions, else text').choices([
        'text',
        'json',
        'github',
      ]),
    )
    .action(async (paths: string[], _: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const standard = world.env.GITHUB_ACTIONS === 'true' ? 'github' : 'text'
      const format = options.format ?? (options.json ? 'json' : standard)
      const checked = await validate(paths, modeOf(options), readLimits(world.env))
      world.found = checked.some(({ valid }) => !valid)
      print(world, checked, format)
    })
}

async function validate(
  paths: readonly string[],
  mode: Mode,
  limits: BundleLimits,
): Promise<Validated[]> {
  const conflictOf = nameConflicts()
  const checked: Validated[] = []
  for (const place of await findPlaces(paths)) {
    if (place.kind === 'archive') {
      throw usageFailure(`${place.path} is an archive: unpack it, or import it with --dry-run.`)
    }
    checked.push(await validateOne(place))
  }
  return checked

  async function validateOne(place: SkillPlace): Promise<Validated> {
    const { valid, errors, warnings, skill } = checkSkill(
      await readSkill(place, limits),
      mode,
      limits,
    )
    const name = skill?.name ?? null
    const conflict = name === null ? undefined : conflictOf(name, place)
    const path = place.skillMd
    if (conflict) return { path, name, valid: false, errors: [conflict], warnings }
    return { path, name, valid, errors, warnings }
  }
}

function print({ terminal }: World, checked: Validated[], format: 'text' | 'json' | 'github') {
  const sum = (ofKind: 'errors' | 'warnings') =>
    checked.reduce((total, one) => total + one[ofKind].length, 0)
  if (format === 'json') {
    const valid = checked.every((one) => one.valid)
    return terminal.printJson({
      valid,
      skills: checked,
      errors: sum('errors'),
      warnings: sum('warnings'),
    })
  }
  for (const { errors, warnings } of checked) {
    for (const fault of errors) show(fault, 'error')
    for (const fault of warnings) show(fault, 'warning')
  }
  const invalid = checked.filter(({ valid }) => !valid).length
  const verdict = invalid > 0 ? `${invalid} not valid` : 'all valid'
  const found = `${count(sum('errors'), 'error')}, ${count(sum('warnings'), 'warning')}`
  terminal.print(`${count(checked.length, 'skill')}, ${verdict}: ${found}.`)

  function show(fault: Fault, severity: 'error' | 'warning') {
    if (format === 'github') terminal.print(toAnnotation(fault, severity))
    else printFault(terminal, fault, severity)
  }
}
