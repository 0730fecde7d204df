import { meets, type Precondition } from '../domain/precondition.ts'
import { AppError } from '../errors.ts'
import type { StoredSkill, WriteRefusal } from '../store/skills.ts'

export function refusal(name: string, refused: WriteRefusal): AppError {
  if (refused.outcome === 'exists') {
    const what = `A skill is named "${name}" already: PUT replaces it.`
    return new AppError('skill_exists', what)
  }
  if (refused.outcome === 'gone') {
    return new AppError('skill_not_found', `The skill "${name}" was deleted in the meantime.`)
  }
  const state = refused.current
    ? `it is at version ${refused.current.version} now`
    : 'it is not there'
  return new AppError('version_conflict', `"${name}" is not as the request expects: ${state}.`)
}

/** Throws when the skill that is there is not the one that a write expects. */
export function refuseUnmet(
  name: string,
  precondition: Precondition | undefined,
  current: StoredSkill | undefined,
): void {
  if (!precondition || meets(precondition, current)) return
  throw refusal(name, { outcome: 'conflict', current })
}
