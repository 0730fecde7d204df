import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { embeddedQuery, embeddedText } from '../../domain/embedded-text.ts'
import { fuseRankings, type Ranked } from '../../domain/rank-fusion.ts'
import type { EmbeddingStore } from '../../store/embeddings.ts'
import type { SkillFilter, SkillStore } from '../../store/skills.ts'
import { type Embed, type Endpoint, embed } from './endpoint.ts'
import { createIndexer } from './indexer.ts'
import { watchOutage } from './outage.ts'
import { createRecent } from './recent.ts'
import { sha256 } from './sha256.ts'
import { createVectorIndex, type Indexed } from './vector-index.ts'

const QUERY_TIMEOUT_MS = 2000
/** How often the revision is looked at. */
const INTERVAL_MS = 500
const MAX_NEAR = 50
/** How many of the near ones are looked up at once. */
const SLICE = 64
const MAX_QUERIES = 500
const MAX_RANKINGS = 1000

export interface Wish {
  text: string
  filter: SkillFilter
  /**
   * A name to keep the ranking under: the same wish under the same name gets the same ranking,
   * whatever the endpoint, the index and the skills have become, for as long as memory lasts.
   */
  keptAs?: string
}

/** Skills by what they mean, for searches by words to be complemented. Never rejects for its own sake. */
export interface Meanings {
  /** The ranking by words, fused with the one by meaning when that is there in time. */
  fuse(wish: Wish, byWords: () => Promise<string[]>): Promise<Ranked[]>
  close(): Promise<void>
}

interface Parts {
  skills: Pick<SkillStore, 'revision' | 'list'>
  store: EmbeddingStore
  endpoint: Endpoint
  log: Pick<Logger, 'warn' | 'info'>
}

/** Follows what is stored in the background until it is closed. Throws when the URL is none. */
export function openMeanings({ skills, store, endpoint, log }: Parts): Meanings {
  if (!URL.canParse(endpoint.url)) throw new Error('EMBEDDINGS_URL must be a URL')
  const closing = new AbortController()
  const { signal } = closing
  const outage = watchOutage(log)
  const index = createVectorIndex()
  const queries = createRecent<Float32Array>(MAX_QUERIES)
  const rankings = createRecent<Promise<Ranked[]>>(MAX_RANKINGS)
  const catchUp = createIndexer({
    skills,
    store,
    index,
    model: endpoint.model,
    embed: ask,
    log,
    closing: signal,
  })
  const following = follow()

  async function ask(...[texts, timeoutMs]: Parameters<Embed>): Promise<Float32Array[]> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const vectors = await embed(endpoint, texts, inTime)
    outage.ended()
    return vectors
  }

  async function follow(): Promise<void> {
    let failed = false
    while (!signal.aborted) {
      try {
        await catchUp()
        if (failed) outage.ended()
        failed = false
      } catch (error) {
        failed = true
        if (!signal.aborted) outage.began(error)
      }
      const pause = failed ? Math.max(outage.pause(), INTERVAL_MS) : INTERVAL_MS
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async function vectorOf(text: string): Promise<Float32Array | undefined> {
    const query = embeddedQuery(text)
    const known = queries.get(query)
    if (known || query === '' || index.size === 0 || outage.pause() > 0) return known
    try {
      const [vector] = await ask([query], QUERY_TIMEOUT_MS)
      if (vector) queries.set(query, vector)
      return vector
    } catch (error) {
      if (!signal.aborted) outage.began(error)
      return undefined
    }
  }

  /** The index may be behind: only what is as it was indexed, and meets the filter now, is a hit. */
  async function confirm(near: readonly Indexed[], filter: SkillFilter): Promise<string[]> {
    const { names: only, ...rest } = filter
    const wanted = only && new Set(only)
    const left = wanted ? near.filter(({ name }) => wanted.has(name)) : near
    const hits: string[] = []
    for (let start = 0; start < left.length && hits.length < MAX_NEAR; start += SLICE) {
      if (start > 0) await setImmediate()
      const slice = left.slice(start, start + SLICE)
      const names = slice.map(({ name }) => name)
      const found = await skills.list({ ...rest, names, sort: 'name', limit: names.length })
      const hashes = new Map(found.map((skill) => [skill.name, sha256(embeddedText(skill))]))
      for (const { name, sha256: hash } of slice) if (hashes.get(name) === hash) hits.push(name)
    }
    return hits.slice(0, MAX_NEAR)
  }

  async function byMeaning({ text, filter }: Wish): Promise<string[]> {
    const vector = await vectorOf(text)
    return vector ? confirm(await index.nearest(vector), filter) : []
  }

  async function rank(wish: Wish, byWords: () => Promise<string[]>): Promise<Ranked[]> {
    const [words, meaning] = await Promise.all([byWords(), byMeaning(wish)])
    return fuseRankings(words, meaning)
  }

  return {
    fuse(wish, byWords) {
      if (wish.keptAs === undefined) return rank(wish, byWords)
      const key = keyOf(wish)
      const known = rankings.get(key)
      if (known) return known
      const ranking = rank(wish, byWords)
      rankings.set(key, ranking)
      // A failure is nothing to keep.
      ranking.catch(() => rankings.remove(key))
      return ranking
    },

    async close() {
      closing.abort()
      await following
    },
  }
}

const keyOf = ({ keptAs, text, filter }: Wish): string =>
  sha256(JSON.stringify([keptAs, text, filter]))
