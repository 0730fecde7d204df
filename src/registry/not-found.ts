import { nearestNames } from '../domain/nearest-names.ts'
import { AppError } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import type { LiveCatalog } from './live-catalog.ts'

/** What tells of a version that is not there, or of a name: then with the nearest names. */
export async function describeMissing(
  skills: Pick<SkillStore, 'find'>,
  live: Pick<LiveCatalog, 'read'>,
  name: string,
  version?: number,
): Promise<AppError> {
  if (version !== undefined && (await skills.find(name))) {
    return new AppError('version_not_found', `"${name}" has no version ${version}.`)
  }
  const suggestions = nearestNames(name, (await live.read()).names())
  const members = suggestions.length > 0 ? { members: { suggestions } } : {}
  return new AppError('skill_not_found', `No skill is named "${name.slice(0, 64)}".`, members)
}
