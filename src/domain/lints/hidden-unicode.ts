// Tag characters, bidirectional controls, what has no width, and runs of variation selectors.
const SUSPECT =
  /[\u{E0000}-\u{E007F}]+|[\u202A-\u202E\u2066-\u2069]|[\u200B-\u200D\u2060-\u2064\uFEFF\u180E]|[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2,}/gu

const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)$/u
const EMOJI_BEHIND = /^\p{Extended_Pictographic}/u

// Scripts that write with joiners and non-joiners.
const JOINING =
  /[\p{scx=Arabic}\p{scx=Syriac}\p{scx=Mongolian}\p{scx=Devanagari}\p{scx=Bengali}\p{scx=Gurmukhi}\p{scx=Gujarati}\p{scx=Oriya}\p{scx=Tamil}\p{scx=Telugu}\p{scx=Kannada}\p{scx=Malayalam}\p{scx=Sinhala}\p{scx=Khmer}\p{scx=Myanmar}]$/u

/** More are not counted. */
const MAX_COUNT = 1000

interface Hidden {
  at: number
  name: string
  count: number
}

/** The first character that a reader cannot see and a model can, and how many such there are. */
export function findHidden(text: string): Hidden | undefined {
  let first: Hidden | undefined
  for (const { 0: found, index } of text.matchAll(SUSPECT)) {
    if (
      isBenign(
        found,
        text.slice(Math.max(0, index - 8), index),
        text.slice(index + found.length, index + found.length + 2),
      )
    )
      continue
    if (first) first.count++
    else first = { at: index, name: nameOf(found), count: 1 }
    if (first.count === MAX_COUNT) break
  }
  return first
}

function isBenign(found: string, before: string, behind: string): boolean {
  // The flags of England, Scotland and Wales are a black flag and tag letters.
  if (found.endsWith('\u{E007F}')) return before.endsWith('\u{1F3F4}') && [...found].length <= 7
  if (found === '\u200D' && EMOJI_BEFORE.test(before) && EMOJI_BEHIND.test(behind)) return true
  return (found === '\u200C' || found === '\u200D') && JOINING.test(before)
}

const nameOf = (text: string): string =>
  `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
