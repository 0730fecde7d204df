import { queryPhrases } from '../domain/search-terms.ts'
import type { SkillStore } from '../store/skills.ts'
import type { Meanings, Wish } from './embeddings/meanings.ts'
import type { SnapshotFilter } from './snapshot.ts'

/** As many as a catalog could show with their lines. */
const MAX_RANKED = 50

/** What skills are found with: their words, and their meanings where there is an endpoint. */
export interface Finders {
  skills: Pick<SkillStore, 'rank'>
  meanings?: Meanings | undefined
}

interface Options extends Pick<Wish, 'keptAs'> {
  limit?: number
}

/** The names of the skills that fit a request best, among those that models may be offered. */
export async function rankOffered(
  { skills, meanings }: Finders,
  request: string,
  { names, tags }: SnapshotFilter,
  { limit = MAX_RANKED, ...kept }: Options = {},
): Promise<string[]> {
  const filter = {
    callable: true,
    ...(names && { names: [...names] }),
    ...(tags && { tags: [...tags] }),
  }
  const byWords = (most: number) =>
    skills.rank({ ...filter, phrases: queryPhrases(request), limit: most })
  if (!meanings) return byWords(limit)
  const ranking = await meanings.fuse({ text: request, filter, ...kept }, () => byWords(MAX_RANKED))
  return ranking.slice(0, limit).map(({ name }) => name)
}
