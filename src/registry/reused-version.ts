import { Diagnostics } from '../domain/diagnostics.ts'
import type { Fault } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import type { ReadSkill } from './read-upload.ts'

/** Other bytes under a `version` that was declared before: nobody can tell the two apart. */
export async function reusedVersion(
  skills: Pick<SkillStore, 'versions'>,
  { name, declaredVersion, digest }: Pick<ReadSkill, 'name' | 'declaredVersion' | 'digest'>,
): Promise<Fault[]> {
  if (declaredVersion === null) return []
  const earlier = await skills.versions(name, { limit: 100 })
  const same = earlier.find(
    (version) => version.declaredVersion === declaredVersion && version.digest !== digest,
  )
  if (!same) return []
  const diagnostics = new Diagnostics('SKILL.md')
  const what = `version ${same.version} declares "${declaredVersion}" too, with other contents: raise it.`
  diagnostics.warn('declared_version_reused', what, { field: 'version' })
  return diagnostics.warnings
}
