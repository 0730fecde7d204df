import { stemmer } from 'stemmer'

/**
 * What a text is found by, in its order: stems of Latin words, other words as they are, numbers,
 * and each character by itself in scripts that put no blanks between words, and in Hangul, whose
 * words carry their particles. No term has a blank, a quotation mark or an operator in it.
 */
export const searchTerms = (text: string): string[] =>
  Array.from(piecesOf(text), ({ term }) => term)

/**
 * What a query asks for: each phrase is a run of neighbouring terms, and any of them is a hit.
 * Empty when there is nothing in the query to search for.
 */
export function queryPhrases(query: string): string[][] {
  const phrases = new Map<string, string[]>()
  const weak = new Map<string, string[]>()
  const add = (to: typeof phrases, ...phrase: string[]) => to.set(phrase.join(' '), phrase)

  let before: Piece | undefined
  for (const piece of piecesOf(query.slice(0, MAX_QUERY))) {
    const pair = before?.unspaced && piece.unspaced && before.end === piece.start
    if (pair && before) add(phrases, before.term, piece.term)
    else if (piece.unspaced || STOP_WORDS.has(piece.word)) add(weak, piece.term)
    else add(phrases, piece.term)
    before = piece
  }
  // A character that stands alone is most often a particle: like a stop word, it has to do where
  // nothing else was said.
  const said = phrases.size > 0 ? phrases : weak
  return [...said.values()].slice(0, MAX_PHRASES)
}

/** What a request is about stands at its beginning, or is pasted text. */
const MAX_QUERY = 4000
const MAX_PHRASES = 32
const MAX_TERM = 64

interface Piece {
  term: string
  /** The term before it was stemmed. */
  word: string
  /** Whether it is a character of a script without blanks. */
  unspaced: boolean
  start: number
  end: number
}

/** The scripts that put no blanks between words, and Hangul. */
const SCRIPTS = ['Han', 'Hira', 'Kana', 'Bopo', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr', 'Tibt']
const THEIRS = `[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]`
const UNSPACED = new RegExp(`^${THEIRS}`, 'v')
const CHARACTER = `[${THEIRS}&&[\\p{L}\\p{N}]]\\p{M}*`
const WORD = `[[\\p{L}\\p{N}]--${THEIRS}][[\\p{L}\\p{N}\\p{M}]--${THEIRS}]*`
const PIECE = new RegExp(`${CHARACTER}|${WORD}`, 'gv')

function* piecesOf(text: string): Generator<Piece> {
  for (const { 0: found, index } of fold(text).matchAll(PIECE)) {
    const word = found.length > MAX_TERM ? [...found].slice(0, MAX_TERM / 2).join('') : found
    const term = /^[a-z]+$/.test(word) ? stemmer(word) : word
    yield { term, word, unspaced: UNSPACED.test(found), start: index, end: index + found.length }
  }
}

/** Diacritics, and what joins or varies characters without being seen. */
const MARKS = /\u00ad|\u200c|\u200d|[\u0300-\u036f]|[\ufe00-\ufe0f]/g

/** The marks of kana stay: they tell its characters apart. */
const fold = (text: string): string =>
  text.normalize('NFKC').toLowerCase().normalize('NFD').replaceAll(MARKS, '').normalize('NFC')

/** Words of English that tell nothing of what is wanted, and what apostrophes leave of them. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be because been but by can could d did do does don for
  from get give had has have he help her him his how i if in into is it its just let like ll m make
  me my need no not of on one or our out over please re s she should so some t tell than that the
  their them then there these they this those to up us use used user using ve want was we were what
  when where which while who why will with would you your`.split(/\s+/),
)
