import { setImmediate } from 'node:timers/promises'

/** A cosine below it is no kinship. */
const FLOOR = 0.25
/** So many numbers are gone through at once: a millisecond or two. */
const SLICE = 100_000

export interface Indexed {
  name: string
  /** Of the text that the vector stands for. */
  sha256: string
}

/** The vectors of all skills, in memory. They may be a little behind the store. */
export interface VectorIndex {
  readonly size: number
  has(indexed: Indexed): boolean
  set(indexed: Indexed, vector: Float32Array): void
  /** Forgets all but these. */
  keep(names: ReadonlySet<string>): void
  /** Those near enough, the nearest first. Gives way to others while it looks. */
  nearest(query: Float32Array): Promise<Indexed[]>
}

export function createVectorIndex(): VectorIndex {
  const vectors = new Map<string, Indexed & { vector: Float32Array }>()
  return {
    get size() {
      return vectors.size
    },
    has: ({ name, sha256 }) => vectors.get(name)?.sha256 === sha256,
    set(indexed, vector) {
      vectors.set(indexed.name, { ...indexed, vector })
    },
    keep(names) {
      for (const name of vectors.keys()) if (!names.has(name)) vectors.delete(name)
    },
    async nearest(query) {
      const near: (Indexed & { cosine: number })[] = []
      let seen = 0
      for (const { name, sha256, vector } of [...vectors.values()]) {
        seen += query.length
        if (seen > SLICE) {
          seen = 0
          await setImmediate()
        }
        const cosine = dotProduct(query, vector)
        if (cosine >= FLOOR) near.push({ name, sha256, cosine })
      }
      return near.sort((a, b) => b.cosine - a.cosine || (a.name < b.name ? -1 : 1))
    },
  }
}

/** 0 for vectors of different models. */
function dotProduct(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}
