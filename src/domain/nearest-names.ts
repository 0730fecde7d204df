const MAX_WANTED = 64
const GOOD_ENOUGH = 0.4
/** Spelling has to be closer than words: any two names share many letters. */
const SPELLED_ALIKE = 0.6

/** The names that were most likely meant, best first; none where nothing comes close. */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 5): string[] {
  const slug = toSlug(wanted.slice(0, MAX_WANTED))
  if (slug === '') return []
  const words = slug.split('-')
  const scored: { name: string; score: number }[] = []
  for (const name of names) {
    const score = likeness(slug, words, name.slice(0, MAX_WANTED))
    if (score >= GOOD_ENOUGH) scored.push({ name, score })
  }
  return scored
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .split('-')
    .filter((word) => word !== '')
    .join('-')
    .slice(0, MAX_WANTED)

/** From 0 to 1: the best of what the words, the beginning and the spelling say. */
function likeness(slug: string, words: readonly string[], name: string): number {
  if (slug === name) return 1
  const parts = name.split('-')
  const common = parts.filter((part) => words.some((word) => sameWord(word, part))).length
  const byWords = Math.min(0.95, (0.95 * 2 * common) / (parts.length + words.length))
  const known = Math.max(byWords, begins(slug, name, 3) ? 0.75 : 0)
  const longer = Math.max(slug.length, name.length)
  const edits = distance(slug, name, Math.floor(longer * (1 - Math.max(known, SPELLED_ALIKE))))
  return Math.max(known, 1 - edits / longer)
}

const sameWord = (a: string, b: string): boolean => a === b || begins(a, b, 4)

/** Whether one begins with the other, and with no less than `least` letters of it. */
const begins = (a: string, b: string, least: number): boolean =>
  Math.min(a.length, b.length) >= least && (a.startsWith(b) || b.startsWith(a))

const WIDTH = MAX_WANTED + 1
/** The edits between the beginnings of two names; its first row and column never change. */
const table = new Uint8Array(WIDTH * WIDTH)
for (let at = 0; at < WIDTH; at++) {
  table[at] = at
  table[at * WIDTH] = at
}
const FAR = 255

/** Edits from one to the other, swapped neighbours counting once; Infinity above `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most || lettersApart(a, b) > 2 * most) {
    return Number.POSITIVE_INFINITY
  }
  for (let row = 1; row <= a.length; row++) {
    const from = Math.max(1, row - most)
    const to = Math.min(b.length, row + most)
    if (from > 1) table[row * WIDTH + from - 1] = FAR
    let least = FAR
    for (let column = from; column <= to; column++) {
      const edits = editsAt(a, b, row, column)
      table[row * WIDTH + column] = edits
      if (edits < least) least = edits
    }
    if (to < b.length) table[row * WIDTH + to + 1] = FAR
    if (least > most) return Number.POSITIVE_INFINITY
  }
  return table[a.length * WIDTH + b.length] ?? FAR
}

function editsAt(a: string, b: string, row: number, column: number): number {
  const at = row * WIDTH + column
  const replaced = table[at - WIDTH - 1] ?? FAR
  if (a.charCodeAt(row - 1) === b.charCodeAt(column - 1)) return replaced
  const swapped =
    row > 1 &&
    column > 1 &&
    a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
    a.charCodeAt(row - 2) === b.charCodeAt(column - 1)
  const before = swapped ? (table[at - 2 * WIDTH - 2] ?? FAR) : FAR
  return 1 + Math.min(replaced, table[at - 1] ?? FAR, table[at - WIDTH] ?? FAR, before)
}

const letters = new Int8Array(128)

/** How many letters one has and the other lacks: an edit changes it by two at most. */
function lettersApart(a: string, b: string): number {
  letters.fill(0)
  for (let at = 0; at < a.length; at++) count(a, at, 1)
  for (let at = 0; at < b.length; at++) count(b, at, -1)
  let apart = 0
  for (const surplus of letters) apart += Math.abs(surplus)
  return apart
}

function count(text: string, at: number, step: number): void {
  const code = text.charCodeAt(at) & 127
  letters[code] = (letters[code] ?? 0) + step
}
