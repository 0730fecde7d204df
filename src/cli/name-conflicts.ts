import type { Fault } from '../errors.ts'
import type { SkillPlace } from './find-skills.ts'

/** Tells of each skill whether one before it has its name, which a service would overwrite. */
export function nameConflicts(): (name: string, place: SkillPlace) => Fault | undefined {
  const pathsByName = new Map<string, string>()
  return (name, { skillMd }) => {
    const other = pathsByName.get(name)
    if (other === undefined || other === skillMd) {
      pathsByName.set(name, skillMd)
      return undefined
    }
    const message = `the skill at ${JSON.stringify(other)} is named "${name}" too: rename one of them.`
    return { code: 'name_conflict', message, file: skillMd, field: 'name' }
  }
}
