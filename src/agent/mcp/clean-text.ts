// Format characters (tags, bidirectional controls, what has no width), variation selectors, blank
// letters, and controls but tab and line feed: a model reads them, and nobody sees them.
const HIDDEN = /\p{Cf}|\p{Variation_Selector}|\u034F|[\u115F\u1160\u3164\uFFA0]|(?![\t\n])\p{Cc}/gu

/** A text of someone else's without characters that cannot be seen. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll(HIDDEN, '')

/** The same in one line, of at most `limit` characters. */
export function cleanLine(text: string, limit: number): string {
  // What is far behind the limit is not worth the work.
  const line = cleanText(text.slice(0, limit * 8))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return shortened(line, limit)
}

/** At most `limit` characters of it, the last an ellipsis where something is missing. */
export const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`
