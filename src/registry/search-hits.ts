import { randomBytes } from 'node:crypto'
import { queryPhrases } from '../domain/search-terms.ts'
import type { SkillFilter, SkillHit, SkillStore } from '../store/skills.ts'
import type { Meanings } from './embeddings/meanings.ts'

/** What comes behind so many hits is no longer ranked by meaning, and not shown. */
const MAX_HITS = 200

/** What `searchHits` takes to go on from: the walk, the place behind a hit, and the hit's name. */
export const HIT_CURSOR = /^[0-9a-f]{8} \d{1,3} [a-z0-9-]{1,64}$/

interface HitSearch {
  text: string
  filter: Omit<SkillFilter, 'names'>
  after: string | undefined
  limit: number
}

/**
 * Hits by words and by meaning, the best first, as they are now; `cursorOf` tells where to go on
 * behind one of them. A walk keeps the ranking that it began with, so that it meets nothing twice.
 */
export async function searchHits(
  { skills, meanings }: { skills: Pick<SkillStore, 'rank' | 'list'>; meanings: Meanings },
  { text, filter, after, limit }: HitSearch,
): Promise<{ found: SkillHit[]; cursorOf: (name: string) => string }> {
  const [walk = newWalk(), place = '0', last = ''] = after?.split(' ') ?? []
  const fused = await meanings.fuse({ text, filter, keptAs: `walk ${walk}` }, () =>
    skills.rank({ ...filter, phrases: queryPhrases(text), limit: MAX_HITS }),
  )
  const ranking = fused.slice(0, MAX_HITS)
  const behind = (name: string) => ranking.findIndex((hit) => hit.name === name) + 1
  const found: SkillHit[] = []
  for (let start = behind(last) || Number(place); found.length < limit; start += limit) {
    const hits = ranking.slice(start, start + limit)
    if (hits.length === 0) break
    const names = hits.map(({ name }) => name)
    const there = await skills.list({ ...filter, names, sort: 'name', limit: names.length })
    const byName = new Map(there.map((skill) => [skill.name, skill]))
    for (const { name, score } of hits) {
      const skill = byName.get(name)
      if (skill && found.length < limit) found.push({ ...skill, score })
    }
  }
  return { found, cursorOf: (name) => `${walk} ${behind(name)} ${name}` }
}

const newWalk = () => randomBytes(4).toString('hex')
