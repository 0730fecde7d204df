import { estimateTokens } from '../../domain/tokens.ts'

/** The first characters of a text; one fewer where the last would be half of a pair. */
export const headOf = (text: string, length: number): string =>
  text.slice(0, isInsidePair(text, length) ? length - 1 : length)

const tailOf = (text: string, length: number): string => {
  const start = Math.max(0, text.length - length)
  return text.slice(isInsidePair(text, start) ? start + 1 : start)
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff
}

export const cutEnd = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${headOf(text, maxCharacters)} […]` : text

/** As much of the beginning as costs at most so many tokens. */
export const headWithin = (text: string, maxTokens: number): string =>
  within(text, maxTokens, (length) => headOf(text, length))

/** A quarter from the beginning and the rest from the end, with a mark where something is left out. */
export const endsWithin = (text: string, maxTokens: number, maxCharacters: number): string =>
  within(text, maxTokens, (length) => {
    const kept = Math.min(length, maxCharacters)
    if (kept >= text.length) return text
    const head = Math.floor(kept / 4)
    return `${headOf(text, head)}\n[… left out …]\n${tailOf(text, kept - head)}`
  })

function within(text: string, maxTokens: number, cut: (length: number) => string): string {
  let length = text.length
  for (;;) {
    const kept = cut(length)
    const tokens = estimateTokens(kept)
    if (tokens <= maxTokens || length === 0) return kept
    length = Math.floor(Math.min(length, kept.length) * Math.min(0.95, maxTokens / tokens))
  }
}
