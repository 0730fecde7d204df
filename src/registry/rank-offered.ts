import { queryPhrases } from '../domain/search-terms.ts'
import type { SkillStore } from '../store/skills.ts'
import type { SnapshotFilter } from './snapshot.ts'

/** As many as a catalog could show with their lines. */
const MAX_RANKED = 50

/** The names of the skills that fit a request best, among those that models may be offered. */
export const rankOffered = (
  skills: Pick<SkillStore, 'rank'>,
  request: string,
  { names, tags }: SnapshotFilter,
  limit = MAX_RANKED,
): Promise<string[]> =>
  skills.rank({
    phrases: queryPhrases(request),
    callable: true,
    ...(names && { names: [...names] }),
    ...(tags && { tags: [...tags] }),
    limit,
  })
