import type { Message } from '../model.ts'
import { bodiesIn } from './bodies.ts'
import { chooseBoundary } from './boundary.ts'
import { applyCompaction, type Compaction } from './compaction.ts'
import { tokensOf } from './message-tokens.ts'
import { shortenAll, shortenResults } from './shorten-results.ts'

const TARGET_SHARE = 0.8
const MAX_SUMMARY_TOKENS = 4000

export interface PlanInput {
  /** The whole conversation as stored. */
  messages: readonly Message[]
  /** As it was planned last. */
  compaction: Compaction
  /** Tokens of what is sent besides the messages: the system prompt and the tools. */
  overhead: number
  /** The most that may be sent, in tokens. */
  limit: number
  /** What a compaction works towards; four fifths of the limit by default. */
  target?: number
  /** Whether a summary can be had; true by default. */
  summaries?: boolean
}

export interface CompactionPlan {
  /** The very object that came in when nothing changes. */
  compaction: Compaction
  /** What is sent with it, the overhead included. */
  tokens: number
  fits: boolean
  /** A summary of the stored messages of these indexes (`to` is not among them) is needed first. */
  summarise?: { from: number; to: number }
}

/** The most that a summary may take of a context. */
export const summaryTokens = (limit: number): number =>
  Math.min(MAX_SUMMARY_TOKENS, Math.floor(limit / 8))

/**
 * Nothing changes up to the limit. Past it results become references, then the oldest messages a
 * summary, and only where that is not enough the texts of skills are left out, oldest first.
 */
export function planCompaction(input: PlanInput): CompactionPlan {
  const { messages, compaction, overhead, limit } = input
  const target = input.target ?? Math.floor(limit * TARGET_SHARE)
  const tokens = overhead + tokensOf(applyCompaction(messages, compaction))
  if (tokens <= limit) return { compaction, tokens, fits: true }

  const { references, saved } = shortenResults(messages, compaction, tokens, { limit, target })
  const shortened = saved > 0 ? { ...compaction, references } : compaction
  const left = tokens - saved
  if (left <= limit) return { compaction: shortened, tokens: left, fits: true }

  const sizes = { tokens: left, overhead, summaryTokens: summaryTokens(limit), target }
  const view = applyCompaction(messages, shortened)
  const to =
    input.summaries === false ? undefined : chooseBoundary(messages, view, shortened, sizes)
  if (to !== undefined) {
    const from = compaction.summary?.upTo ?? 0
    return { compaction: shortened, tokens: left, fits: false, summarise: { from, to } }
  }
  return dropBodies({ ...input, compaction: shortened }, target)
}

/** When even that does not help, no text of a skill is given up in vain. */
function dropBodies(
  { messages, compaction, overhead, limit }: PlanInput,
  target: number,
): CompactionPlan {
  const shortest = shortenAll(messages, compaction)
  const plan = (dropped: number): CompactionPlan => {
    const dropping = dropped === shortest.dropped ? shortest : { ...shortest, dropped }
    const tokens = overhead + tokensOf(applyCompaction(messages, dropping))
    return { compaction: dropping, tokens, fits: tokens <= limit }
  }
  let few = compaction.dropped
  let many = bodiesIn(messages).length
  const none = plan(few)
  const all = plan(many)
  if (none.fits || !all.fits) return none
  const goal = all.tokens <= target ? target : limit
  while (many - few > 1) {
    const middle = (few + many) >> 1
    if (plan(middle).tokens <= goal) many = middle
    else few = middle
  }
  return plan(many)
}
