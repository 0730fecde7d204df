import type { Message } from '../model.ts'
import { isByUser } from '../said-by.ts'
import { bodiesIn, toTextPart } from './bodies.ts'
import type { Compaction } from './compaction.ts'
import { messageTokens, partTokens } from './message-tokens.ts'
import { requestParts } from './summary-message.ts'

const NEWEST_MESSAGES = 5
/** What stands around a summary's text. */
const FRAME_TOKENS = 120

interface Boundary {
  index: number
  /** What the conversation would cost with a summary up to here. */
  tokens: number
}

interface Sizes {
  /** Of the whole, and of what is no message. */
  tokens: number
  overhead: number
  /** Of a summary's text, at most. */
  summaryTokens: number
  target: number
}

/**
 * Up to where older messages should become a summary: as few as give room for a while, and none of
 * the newest five where that is possible. It never parts a call from its result. Undefined when no
 * summary would make the conversation shorter. `view` is what is shown of the messages now.
 */
export function chooseBoundary(
  messages: readonly Message[],
  view: readonly Message[],
  compaction: Compaction,
  sizes: Sizes,
): number | undefined {
  const all = boundaries(messages, view, compaction, sizes)
  const roomy = all.find(({ tokens }) => tokens <= sizes.target / 2)
  const early = all.findLast(({ index }) => messages.length - index >= NEWEST_MESSAGES)
  if (roomy && early && roomy.index <= early.index) return roomy.index
  if (early && early.tokens <= sizes.target) return early.index
  const fitting = all.find(({ tokens }) => tokens <= sizes.target)
  const chosen = fitting ?? all.at(-1)
  return chosen && chosen.tokens < sizes.tokens ? chosen.index : undefined
}

function boundaries(
  messages: readonly Message[],
  view: readonly Message[],
  compaction: Compaction,
  { overhead, summaryTokens }: Sizes,
): Boundary[] {
  const from = compaction.summary?.upTo ?? 0
  const shown = view.slice(compaction.summary ? 1 : 0)
  const bodies = bodiesIn(messages).slice(compaction.dropped)
  const asked = newestRequest(messages)
  const carried = new Map<string, number>()
  let carriedTokens = 0
  let keptTokens = shown.reduce((sum, message) => sum + messageTokens(message), 0)
  let nextBody = 0
  const found: Boundary[] = []

  for (let index = from + 1; index <= messages.length; index++) {
    const left = shown[index - 1 - from]
    if (left) keptTokens -= messageTokens(left)
    for (let body = bodies[nextBody]; body && body.index < index; body = bodies[++nextBody]) {
      const tokens = partTokens(toTextPart(body))
      carriedTokens += tokens - (carried.get(body.load.name) ?? 0)
      carried.set(body.load.name, tokens)
    }
    if (!canPart(messages, index)) continue
    const request = asked.index < index ? asked.tokens : 0
    const summary = summaryTokens + FRAME_TOKENS
    found.push({ index, tokens: overhead + keptTokens + carriedTokens + request + summary })
  }
  return found
}

export function newestRequest(messages: readonly Message[]): { index: number; tokens: number } {
  const index = messages.findLastIndex(isByUser)
  const message = messages[index]
  const parts = message ? requestParts(message) : []
  return { index, tokens: parts.reduce((sum, part) => sum + partTokens(part), 0) }
}

/** Results stand right behind the message that has their calls. */
function canPart(messages: readonly Message[], index: number): boolean {
  const next = messages[index]
  if (next) return next.role !== 'tool'
  const last = messages[index - 1]
  return last?.role !== 'assistant' || last.content.every(({ type }) => type !== 'tool-call')
}
