import { setImmediate } from 'node:timers/promises'
import { Diagnostics } from '../domain/diagnostics.ts'
import { findSimilar } from '../domain/lints/similar.ts'
import type { Fault } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import type { LiveCatalog } from './live-catalog.ts'
import type { ReadSkill } from './read-upload.ts'
import { reusedVersion } from './reused-version.ts'

/** How long others wait at most. */
const SLICE_MS = 5

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
  const names = await inSlices(findSimilar(skill, entries))
  if (names.length === 0) return []
  const diagnostics = new Diagnostics('SKILL.md')
  const shown = names.map((name) => `"${name}"`).join(', ')
  const what = `the description is nearly that of ${shown}: say what sets this skill apart.`
  diagnostics.warn('similar_to', what, { field: 'description' })
  return diagnostics.warnings
}

/** Runs to the end, and lets others have their turn at the pauses. */
async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let began = performance.now()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    if (performance.now() - began < SLICE_MS) continue
    await setImmediate()
    began = performance.now()
  }
}
