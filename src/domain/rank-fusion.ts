/** How much a first place is worth beside a second one; 60 is what the method was published with. */
const DAMPING = 60

export interface Ranked {
  name: string
  /** The higher the better; only scores of one ranking compare. */
  score: number
}

/**
 * One ranking from several, by reciprocal rank (Cormack, Clarke and Büttcher, 2009): it needs no
 * scores that compare, only orders. Of equals the one that an earlier ranking names first is first.
 */
export function fuseRankings(...rankings: readonly (readonly string[])[]): Ranked[] {
  const scores = new Map<string, number>()
  for (const ranking of rankings) {
    for (const [place, name] of ranking.entries()) {
      scores.set(name, (scores.get(name) ?? 0) + 1 / (DAMPING + place + 1))
    }
  }
  return [...scores].map(([name, score]) => ({ name, score })).sort((a, b) => b.score - a.score)
}
