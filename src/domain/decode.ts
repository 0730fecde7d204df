import type { Diagnostics } from './diagnostics.ts'

const encoder = new TextEncoder()

/** The text of a file: without one byte order mark, every line ended by LF. */
export function decode(bytes: Uint8Array, diagnostics: Diagnostics): string {
  return withLineFeeds(decodeRaw(bytes, diagnostics).replace(/^\uFEFF/, ''))
}

export const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text

/** The text as it stands, byte order mark and line ends too. Throws on what is no text. */
export function decodeRaw(bytes: Uint8Array, diagnostics: Diagnostics): string {
  const nul = bytes.indexOf(0)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (nul < 0) return text
  } catch {
    const what = `it is not UTF-8${guess(bytes)}: save it as UTF-8.`
    diagnostics.abort('encoding_not_utf8', what, { offset: firstBadByte(bytes) })
  }
  if (everySecondIsNul(bytes)) {
    const what = `it is not UTF-8${guess(bytes)}: save it as UTF-8.`
    diagnostics.abort('encoding_not_utf8', what, { offset: nul })
  }
  return diagnostics.abort('nul_byte', 'it holds a NUL character: remove it.', { offset: nul })
}

/** Up to the first fault the text is right, so that its length in bytes is the offset. */
function firstBadByte(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  let offset = 0
  for (const part of text.split('\uFFFD')) {
    offset += encoder.encode(part).length
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) break
    offset += 3
  }
  return offset
}

const guess = (bytes: Uint8Array): string =>
  looksLikeUtf16(bytes) ? ', but looks like UTF-16' : ''

function looksLikeUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return marked || everySecondIsNul(bytes)
}

function everySecondIsNul([a, b, c, d]: Uint8Array): boolean {
  return (a === 0) !== (b === 0) && (a === 0) === (c === 0) && (b === 0) === (d === 0)
}
