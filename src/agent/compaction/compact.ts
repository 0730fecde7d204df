import type { Message, Model, ModelUsage } from '../model.ts'
import { newestRequest } from './boundary.ts'
import { applyCompaction, type Compaction } from './compaction.ts'
import { tokensOf } from './message-tokens.ts'
import { planCompaction, summaryTokens } from './plan-compaction.ts'
import { summarise } from './summarise.ts'

interface CompactInput {
  model: Model
  /** The whole conversation as stored. */
  messages: readonly Message[]
  compaction: Compaction
  /** Tokens of the system prompt and the tools. */
  overhead: number
  /** The most that may be sent, in tokens. */
  limit: number
  signal: AbortSignal
  /** The provider has refused what fits by our estimate: make it clearly shorter. */
  forced?: boolean
}

export interface Compacted {
  compaction: Compaction
  /** What to send. */
  view: readonly Message[]
  /** Of what is to be sent, the overhead included. */
  tokens: number
  /** Of the calls that summaries were made with. */
  usage: ModelUsage[]
  /** Whether `compaction` has to be stored. */
  changed: boolean
  /** When false, sending it is of no use. */
  fits: boolean
}

/** Of what the messages take, where a compaction is forced: at most, and better. */
const FORCED_LIMIT_SHARE = 0.8
const FORCED_TARGET_SHARE = 0.6
/** The second where the first could not be as short as was hoped. */
const MAX_SUMMARIES = 2

/** Makes a conversation fit, by all means there are. Throws as the model does when a summary fails. */
export async function compact(input: CompactInput): Promise<Compacted> {
  const { model, messages, signal, limit } = input
  const usage: ModelUsage[] = []
  const planned = { ...input, ...goal(input) }
  let plan = planCompaction(planned)
  while (plan.summarise) {
    const { from, to } = plan.summarise
    const summary = from > 0 ? applyCompaction(messages, plan.compaction).slice(0, 1) : []
    const written = await summarise({
      model,
      messages: [...summary, ...messages.slice(from, to)],
      signal,
      maxOutputTokens: summaryTokens(planned.limit),
      limit: planned.limit,
    })
    usage.push(written.usage)
    plan = planCompaction({
      ...planned,
      compaction: withSummary(messages, plan.compaction, to, written.text),
      summaries: usage.length < MAX_SUMMARIES,
    })
  }
  const { compaction, tokens } = plan
  const changed = compaction !== input.compaction
  return {
    compaction,
    view: applyCompaction(messages, compaction),
    tokens,
    usage,
    changed,
    fits: input.forced ? changed && tokens <= limit : plan.fits,
  }
}

/** A forced compaction counts by what the messages take now, for the rest is not ours to shorten. */
function goal({ messages, compaction, overhead, limit, forced }: CompactInput) {
  if (!forced) return { limit }
  const now = tokensOf(applyCompaction(messages, compaction))
  const part = (share: number) => Math.min(limit, overhead + Math.floor(now * share))
  return { limit: part(FORCED_LIMIT_SHARE), target: part(FORCED_TARGET_SHARE) }
}

/** References to what the summary stands for are no longer needed. */
function withSummary(
  messages: readonly Message[],
  { references, dropped }: Compaction,
  upTo: number,
  text: string,
): Compaction {
  const request = newestRequest(messages).index
  const shown = new Set<string>()
  for (const { role, content } of messages.slice(upTo)) {
    if (role !== 'tool') continue
    for (const part of content) if (part.type === 'tool-result') shown.add(part.toolCallId)
  }
  return {
    references: references.filter(({ callId }) => shown.has(callId)),
    summary: { upTo, text, request: request >= 0 && request < upTo ? request : null },
    dropped,
  }
}
