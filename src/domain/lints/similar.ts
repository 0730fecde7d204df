import { searchTerms } from '../search-terms.ts'

interface Described {
  readonly name: string
  readonly description: string
}

/**
 * Of all terms of two descriptions, the part that both have. Among the fifty thousand pairs that
 * some three hundred real skills make, two reach it, which a model would indeed mistake for each
 * other; of those between 0.3 and 0.4 every second one is about two different products.
 */
const THRESHOLD = 0.4

/** With fewer terms in common, chance alone makes descriptions alike. */
const MIN_SHARED = 3
const MOST = 5

/** Words of every description, which tell skills apart no better than commas. */
const COMMON = new Set(
  searchTerms(
    `a all also an and any are as ask asks at be by can for from has have in into is it its like not
    of on or other skill so such that the their them these they this to use user users via when
    whenever which while will with you your`,
  ),
)
const CHARACTER = /^[^\p{ASCII}]\p{M}*$/v

/** A lenient description may be as long as a whole body. */
const MAX_LENGTH = 4096

/** Between two pauses, for the first time takes long where there are many. */
const STEP = 25

/** Kept while the described object lives. */
const known = new WeakMap<Described, ReadonlySet<string>>()

/**
 * The names of those whose descriptions a model would mistake for this one, the most similar
 * first, at most five, and never its own. Pauses again and again, so that whoever has others to
 * attend to can; those that were compared before cost little.
 */
export function* findSimilar(
  skill: Described,
  others: Iterable<Described>,
): Generator<void, string[]> {
  const own = termsOf(skill.description)
  const found: { name: string; likeness: number }[] = []
  let compared = 0
  for (const other of others) {
    if (++compared % STEP === 0) yield
    if (other.name === skill.name) continue
    const likeness = compare(own, knownTermsOf(other))
    if (likeness >= THRESHOLD) found.push({ name: other.name, likeness })
  }
  found.sort((a, b) => b.likeness - a.likeness)
  return found.slice(0, MOST).map(({ name }) => name)
}

function knownTermsOf(described: Described): ReadonlySet<string> {
  const terms = known.get(described) ?? termsOf(described.description)
  known.set(described, terms)
  return terms
}

/** Stems of words, and pairs of characters in scripts without blanks. */
function termsOf(description: string): ReadonlySet<string> {
  const terms = new Set<string>()
  let before = ''
  for (const term of searchTerms(description.slice(0, MAX_LENGTH))) {
    const character = CHARACTER.test(term)
    if (character && before !== '') terms.add(before + term)
    if (!character && !COMMON.has(term)) terms.add(term)
    before = character ? term : ''
  }
  return terms
}

/** Jaccard's measure, or 0 as soon as it is certain to stay below the threshold. */
function compare(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  const needed = Math.max((THRESHOLD * (a.size + b.size)) / (1 + THRESHOLD), MIN_SHARED)
  let possible = few.size
  if (possible < needed) return 0
  for (const term of few) {
    if (!many.has(term) && --possible < needed) return 0
  }
  return possible / (a.size + b.size - possible)
}
