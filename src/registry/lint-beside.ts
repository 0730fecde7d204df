import { setImmediate } from 'node:timers/promises'
import { Diagnostics } from '../domain/diagnostics.ts'
import { findSimilar, learn } from '../domain/lints/similar.ts'
import type { Fault } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import type { LiveCatalog } from './live-catalog.ts'
import type { ReadSkill } from './read-upload.ts'
import { reusedVersion } from './reused-version.ts'

const CHUNK = 100

/** Warns of what can only be told beside what is stored already. */
export async function lintBeside(
  skill: ReadSkill,
  skills: Pick<SkillStore, 'versions'>,
  live: Pick<LiveCatalog, 'read'>,
): Promise<Fault[]> {
  return [...(await reusedVersion(skills, skill)), ...(await similarTo(skill, live))]
}

/** Descriptions that a model could mistake for this one; what no model sees is no rival. */
async function similarTo(skill: ReadSkill, live: Pick<LiveCatalog, 'read'>): Promise<Fault[]> {
  if (skill.hidden) return []
  const { entries } = await live.read()
  // The first time takes long where there are many: others get their turn in between.
  for (let from = 0; from < entries.length; from += CHUNK) {
    if (learn(entries.slice(from, from + CHUNK)) > 0) await setImmediate()
  }
  const names = findSimilar(skill, entries)
  if (names.length === 0) return []
  const diagnostics = new Diagnostics('SKILL.md')
  const shown = names.map((name) => `"${name}"`).join(', ')
  const what = `the description is nearly that of ${shown}: say what sets this skill apart.`
  diagnostics.warn('similar_to', what, { field: 'description' })
  return diagnostics.warnings
}
