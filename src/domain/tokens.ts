/** An estimate, never 0 for text that is not empty. What a provider reports is the truth. */
export function estimateTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Math.ceil(measureTokens(text) / 100))
}

/**
 * The same in hundredths of a token. It adds up: text that is cut before a single blank, or behind
 * a line break, measures what its parts measure together.
 */
export function measureTokens(text: string, start = 0, end = text.length): number {
  let cost = 0
  let at = start
  let glue = APART
  while (at < end) {
    const from = at
    const code = text.charCodeAt(at)
    const kind = kindOf(code)
    if (kind & LETTER) {
      const small = runEnd(text, from, end, UPPER)
      at = runEnd(text, small, end, LOWER)
      while (at < end && kindOf(text.charCodeAt(at)) === ACCENTED) {
        cost += costOf(text.charCodeAt(at))
        at = runEnd(text, at + 1, end, LOWER)
      }
      cost += wordCost(at - from, small === at, glue === BLANK)
      glue = APART
    } else if (kind === DIGIT) {
      at = runEnd(text, at, end, DIGIT)
      cost += Math.ceil((at - from) / 3) * 92 + (glue === BLANK ? 84 : 0)
      glue = APART
    } else if (kind === BLANK) {
      at = runEnd(text, at, end, BLANK)
      const trailing = at < end && kindOf(text.charCodeAt(at)) === BREAK
      cost += at - from === 1 || trailing ? 0 : 80 + (at - from)
      glue = trailing ? APART : BLANK
    } else if (kind === BREAK) {
      at = runEnd(text, at, end, BREAK)
      cost += 92 + 4 * (at - from)
      glue = APART
    } else if (kind === MARK) {
      at = runEnd(text, at, end, MARK)
      const next = at < end ? kindOf(text.charCodeAt(at)) : BREAK
      // A lone mark such as the "_" of "snake_case" is one token with the word behind it.
      const joined = at - from === 1 && glue !== BLANK && next & LETTER
      if (!joined) cost += markCost(text, from, at)
      if (next === BREAK) at = runEnd(text, at, end, BREAK)
      glue = joined ? MARK : APART
    } else {
      cost += costOf(code)
      glue = APART
      at++
    }
  }
  return cost
}

const APART = 0
const LOWER = 1
const UPPER = 2
const ACCENTED = 4
const LETTER = LOWER | UPPER | ACCENTED
const DIGIT = 8
const BLANK = 16
const BREAK = 32
const MARK = 64
const OTHER = 128

// All numbers are fitted to o200k on some four hundred real skills, on their descriptions (whose
// prose needs a word to cost at least a token) and on prose in other scripts.
const LOWER_AFTER_BLANK = [100, 100, 110, 114, 123]
const LOWER_ELSEWHERE = [148, 110, 149, 192, 227]

function wordCost(length: number, shouted: boolean, afterBlank: boolean): number {
  if (shouted && length > 1) {
    const cost = length < 3 ? 88 : length < 4 ? 123 : 146
    return cost + 73 * Math.max(0, length - 8)
  }
  const step = length < 4 ? 0 : length < 6 ? 1 : length < 9 ? 2 : length < 12 ? 3 : 4
  const cost = (afterBlank ? LOWER_AFTER_BLANK : LOWER_ELSEWHERE)[step] ?? 0
  return cost + 73 * Math.max(0, length - 14)
}

function markCost(text: string, from: number, to: number): number {
  let cost = 100
  for (let at = from + 1; at < to; at++) {
    cost += text.charCodeAt(at) === text.charCodeAt(at - 1) ? 3 : 20
  }
  return cost
}

/** Where each stretch of the Basic Multilingual Plane begins and what one of its units costs. */
const STRETCHES: [start: number, cost: number][] = [
  [0x00c0, 42], // accented Latin: on top of the word
  [0x0100, 115],
  [0x0180, 0], // Vietnamese
  [0x0250, 150], // phonetic, combining
  [0x0370, 41], // Greek
  [0x0400, 30], // Cyrillic
  [0x0530, 33], // Armenian
  [0x0590, 46], // Hebrew
  [0x0600, 40], // Arabic
  [0x0900, 41], // Indic
  [0x1000, 60], // Burmese, Georgian
  [0x1100, 170], // letters of Hangul, Ethiopic, Khmer …
  [0x1e00, 0],
  [0x1f00, 150],
  [0x2000, 60], // dashes, quotation marks
  [0x2070, 161], // arrows, symbols
  [0x2500, 44], // box drawing
  [0x2580, 161],
  [0x3000, 55], // punctuation of Chinese and Japanese
  [0x3040, 79], // kana
  [0x3100, 161],
  [0x3400, 250], // rare Han
  [0x4e00, 78], // Han
  [0xa000, 200],
  [0xac00, 63], // Hangul
  [0xd7b0, 200],
  [0xd800, 105], // halves of emoji and the like
  [0xe000, 200],
  [0xff01, 55],
  [0xff10, 180], // full-width letters, half-width kana
  [0xff1a, 55],
  [0xff21, 180],
]

const COSTS = new Uint8Array(0x10000)
STRETCHES.forEach(([start, cost], index) => {
  COSTS.fill(cost, start, STRETCHES[index + 1]?.[0])
})

const KINDS = new Uint8Array(0x10000).fill(OTHER).fill(MARK, 0, 0xc0)
KINDS.fill(LOWER, 0x61, 0x7b).fill(UPPER, 0x41, 0x5b).fill(DIGIT, 0x30, 0x3a)
KINDS.fill(ACCENTED, 0xc0, 0x250).fill(ACCENTED, 0x1e00, 0x1f00)
for (const blank of ' \t\u00a0') KINDS[blank.charCodeAt(0)] = BLANK
for (const lineBreak of '\n\r') KINDS[lineBreak.charCodeAt(0)] = BREAK

const costOf = (code: number): number => COSTS[code] ?? 0
const kindOf = (code: number): number => KINDS[code] ?? OTHER

function runEnd(text: string, at: number, end: number, kinds: number): number {
  let next = at
  while (next < end && kindOf(text.charCodeAt(next)) & kinds) next++
  return next
}
