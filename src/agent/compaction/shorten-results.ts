import { loadOn } from '../loads.ts'
import type { Message, ToolResult } from '../model.ts'
import type { Compaction } from './compaction.ts'
import { partTokens } from './message-tokens.ts'
import { plainText, toReference } from './reference.ts'

/** A reference to less than this would hardly be shorter. */
const LEFT_ALONE_CHARACTERS = 120
const NEWEST_SEEN = 3
const HEAD_CHARACTERS = 2000
const SMALL_HEAD_CHARACTERS = 1000
/** A result that takes more of the limit than this is shortened before any other. */
const GIANT_SHARE = 1 / 3

interface Shown {
  result: ToolResult
  /** How many characters of it are shown. */
  head: number
  tokens: number
}

export interface Shortened {
  references: Compaction['references']
  /** By how many tokens the conversation became shorter. */
  saved: number
}

interface Room {
  /** Each further kind of results is shortened while the conversation is over this … */
  limit: number
  /** … and then until it is down to this. */
  target: number
}

/**
 * Gigantic results that the model has not seen yet first; then what it has seen, oldest first;
 * then the newest results, largest first. The texts of skills are no results.
 */
export function shortenResults(
  messages: readonly Message[],
  { references, summary }: Compaction,
  tokens: number,
  room: Room,
): Shortened {
  const { seen, unseen } = readResults(messages, summary?.upTo ?? 0, references)
  const older = seen.slice(0, -NEWEST_SEEN)
  const newest = [...seen.slice(-NEWEST_SEEN), ...unseen].sort(bySize)
  const giants = unseen.filter((shown) => shown.tokens > room.limit * GIANT_SHARE).sort(bySize)
  const heads = new Map(references.map(({ callId, head }) => [callId, head]))
  let left = tokens

  const shorten = (results: readonly Shown[], head: number) => {
    if (left <= room.limit) return
    for (const shown of results) {
      if (left <= room.target) return
      if (shown.head <= head) continue
      const shorter = partTokens(toReference(shown.result, head))
      if (shorter >= shown.tokens) continue
      heads.set(shown.result.toolCallId, head)
      left -= shown.tokens - shorter
      shown.head = head
      shown.tokens = shorter
    }
  }
  shorten(giants, HEAD_CHARACTERS)
  shorten(older, 0)
  shorten(newest, HEAD_CHARACTERS)
  shorten(newest, SMALL_HEAD_CHARACTERS)
  return { references: toReferences(heads), saved: tokens - left }
}

/** All that is left of them, where nothing else helps. */
export function shortenAll(messages: readonly Message[], compaction: Compaction): Compaction {
  const { seen, unseen } = readResults(
    messages,
    compaction.summary?.upTo ?? 0,
    compaction.references,
  )
  const heads = new Map(compaction.references.map(({ callId, head }) => [callId, head]))
  let shorter = false
  for (const { result, tokens } of [...seen, ...unseen]) {
    if (partTokens(toReference(result, 0)) >= tokens) continue
    heads.set(result.toolCallId, 0)
    shorter = true
  }
  return shorter ? { ...compaction, references: toReferences(heads) } : compaction
}

const toReferences = (heads: ReadonlyMap<string, number>): Compaction['references'] =>
  Array.from(heads, ([callId, head]) => ({ callId, head }))

const bySize = (one: Shown, other: Shown): number => other.tokens - one.tokens

function readResults(
  messages: readonly Message[],
  from: number,
  references: Compaction['references'],
): { seen: Shown[]; unseen: Shown[] } {
  const heads = new Map(references.map(({ callId, head }) => [callId, head]))
  const lastSaid = messages.findLastIndex(({ role }) => role === 'assistant')
  const seen: Shown[] = []
  const unseen: Shown[] = []
  messages.slice(from).forEach(({ role, content }, offset) => {
    if (role !== 'tool') return
    for (const result of content) {
      if (result.type !== 'tool-result' || !canShorten(result)) continue
      const head = heads.get(result.toolCallId) ?? Number.POSITIVE_INFINITY
      const tokens = partTokens(Number.isFinite(head) ? toReference(result, head) : result)
      ;(from + offset > lastSaid ? unseen : seen).push({ result, head, tokens })
    }
  })
  return { seen, unseen }
}

function canShorten(result: ToolResult): boolean {
  if ((plainText(result)?.length ?? 0) < LEFT_ALONE_CHARACTERS) return false
  const load = loadOn(result)
  return load === undefined || load.repeat
}
