import { measureTokens } from './tokens.ts'

export const ELLIPSIS = '…'

/**
 * As much of an escaped line as costs at most `room` hundredths of a token together with the
 * ellipsis behind it: cut at a blank or before a Chinese character, else between two
 * graphemes; never inside an entity. Empty when nothing fits.
 */
export function shorten(text: string, room: number): string {
  const available = room - measureTokens(ELLIPSIS)
  let end = 0
  let used = 0
  while (end < text.length) {
    const next = nextBreak(text, end + 1)
    const cost = measureTokens(text, end, next)
    if (used + cost > available) {
      if (used < available / 2) end = cutInside(text, end, next, available - used)
      break
    }
    used += cost
    end = next
  }
  const kept = withoutTail(text, end)
  return kept === '' ? '' : kept + ELLIPSIS
}

function nextBreak(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 0x20 || isIdeograph(code)) return at
    at++
  }
  return at
}

const isIdeograph = (code: number): boolean => code >= 0x3400 && code <= 0x9fff

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function cutInside(text: string, from: number, to: number, room: number): number {
  // No character that is worth keeping costs less than a fiftieth of a token.
  const piece = text.slice(from, Math.min(to, from + Math.ceil(room / 2)))
  let fits = 0
  let over = piece.length + 1
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (measureTokens(piece, 0, middle) <= room) fits = middle
    else over = middle
  }
  const cut = graphemes.segment(piece).containing(fits)?.index ?? fits
  const entity = piece.lastIndexOf('&', cut - 1)
  return from + (entity >= 0 && piece.indexOf(';', entity) >= cut ? entity : cut)
}

const TAIL = ' ,.:!?([{"\'/–—，。、：；！？（「『【《“‘'

function withoutTail(text: string, end: number): string {
  let last = end
  while (last > 0 && TAIL.includes(text.charAt(last - 1))) last--
  return text.slice(0, last)
}
