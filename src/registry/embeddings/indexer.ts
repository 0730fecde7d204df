import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import { embeddedText } from '../../domain/embedded-text.ts'
import type { EmbeddingStore } from '../../store/embeddings.ts'
import type { SkillPage, SkillStore, SkillSummary } from '../../store/skills.ts'
import { type Embed, TextsRefused } from './endpoint.ts'
import { sha256 } from './sha256.ts'
import type { Indexed, VectorIndex } from './vector-index.ts'

const BATCH = 64
const BATCH_TIMEOUT_MS = 30_000
/** A walk through all skills takes at most one part in so many of the time. */
const REST = 20

export interface IndexerParts {
  skills: Pick<SkillStore, 'revision' | 'list'>
  store: EmbeddingStore
  index: VectorIndex
  model: string
  embed: Embed
  log: Pick<Logger, 'warn'>
  closing: AbortSignal
}

type Text = Indexed & { text: string }

/**
 * Brings the index up to what is stored now; each call goes on where the one before ended, or
 * failed. Rejects when the store or the endpoint fails. Skills are indexed as they are shown.
 */
export function createIndexer(parts: IndexerParts): () => Promise<void> {
  const { skills, store, index, model, embed, log, closing } = parts
  const refused = new Set<string>()
  let seen: number | undefined
  let complete = false
  let restsUntil = 0

  async function catchUp(): Promise<void> {
    const revision = await skills.revision()
    if (revision === seen && complete) return
    if (revision !== seen && seen !== undefined) {
      const changed = await indexChanged(seen, revision)
      // Every write raises the revision by one and marks its skill with it: a number that no skill
      // has may be a removal.
      complete &&= changed === revision - seen
    }
    if (!complete && Date.now() >= restsUntil) await indexAll()
    seen = revision
  }

  async function indexChanged(from: number, to: number): Promise<number> {
    let changed = 0
    for await (const page of pages(skills, '-updated_at', closing)) {
      const fresh = page.filter((skill) => skill.revision > from)
      changed += fresh.filter((skill) => skill.revision <= to).length
      await indexPage(fresh.map(toText))
      if (fresh.length < page.length) break
    }
    return changed
  }

  /** Also forgets, here and in the store, what no skill needs any more. */
  async function indexAll(): Promise<void> {
    const began = Date.now()
    const names = new Set<string>()
    const hashes = new Set<string>()
    for await (const page of pages(skills, 'name', closing)) {
      const texts = page.map(toText)
      for (const text of texts) {
        names.add(text.name)
        hashes.add(text.sha256)
      }
      await indexPage(texts)
    }
    closing.throwIfAborted()
    index.keep(names)
    await store.sweep(model, hashes)
    complete = true
    restsUntil = Date.now() + REST * (Date.now() - began)
  }

  async function indexPage(texts: readonly Text[]): Promise<void> {
    const missing = texts.filter((text) => !index.has(text) && !refused.has(text.sha256))
    const stored = await store.find(
      model,
      missing.map((text) => text.sha256),
    )
    const unknown: Text[] = []
    for (const text of missing) {
      const vector = stored.get(text.sha256)
      if (vector) index.set(text, vector)
      else unknown.push(text)
    }
    if (unknown.length > 0) await embedAll(unknown)
  }

  async function embedAll(texts: readonly Text[]): Promise<void> {
    const rejected = await embedSome(texts)
    // A server that takes none of many has something against more than their words.
    if (rejected.length > 1 && rejected.length === texts.length) throw new TextsRefused(REFUSES_ALL)
    for (const { name, sha256: hash } of rejected) {
      refused.add(hash)
      log.warn({ skill: name }, 'the embeddings endpoint refuses this skill: words alone find it')
    }
  }

  /** Those that were refused: halves tell which of many it was, or that they were too many. */
  async function embedSome(texts: readonly Text[]): Promise<Text[]> {
    try {
      const given = texts.map(({ text }) => text)
      const vectors = await embed(given, BATCH_TIMEOUT_MS)
      const pairs = texts.flatMap((text, at) => {
        const vector = vectors[at]
        return vector ? [{ text, vector }] : []
      })
      await store.save(model, new Map(pairs.map(({ text, vector }) => [text.sha256, vector])))
      for (const { text, vector } of pairs) index.set(text, vector)
      return []
    } catch (error) {
      if (!(error instanceof TextsRefused)) throw error
      if (texts.length === 1) return [...texts]
      const middle = Math.ceil(texts.length / 2)
      return [
        ...(await embedSome(texts.slice(0, middle))),
        ...(await embedSome(texts.slice(middle))),
      ]
    }
  }

  return catchUp
}

const REFUSES_ALL = 'it refuses every text'

function toText(skill: SkillSummary): Text {
  const text = embeddedText(skill)
  return { name: skill.name, sha256: sha256(text), text }
}

/** All skills, a few at a time, with room for others in between. */
async function* pages(
  skills: Pick<SkillStore, 'list'>,
  sort: SkillPage['sort'],
  closing: AbortSignal,
): AsyncGenerator<SkillSummary[]> {
  for (let after: string | undefined; !closing.aborted; ) {
    const page = await skills.list({ sort, limit: BATCH, ...(after !== undefined && { after }) })
    const last = page.at(-1)
    if (!last) return
    yield page
    after = sort === 'name' ? last.name : `${last.revision}`
    await setImmediate()
  }
}
