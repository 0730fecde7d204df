import type { Diagnostics, Place } from '../diagnostics.ts'
import { lineAt } from '../fence.ts'
import { estimateTokens } from '../tokens.ts'
import { findHidden } from './hidden-unicode.ts'
import { findSecret } from './secret.ts'

const MAX_LINES = 500
const MAX_TOKENS = 5000

/** Warns of what a whole file holds, and of its body. */
export function lintText(text: string, body: string, diagnostics: Diagnostics): void {
  lintBody(body, diagnostics)
  for (const { code, what, place } of findCharacters(text)) diagnostics.warn(code, what, place)
}

interface Finding {
  code: 'hidden_unicode' | 'secret_suspected'
  what: string
  place: Place
}

/** What no text should hold. */
export function findCharacters(text: string): Finding[] {
  const found: Finding[] = []
  const hidden = findHidden(text)
  if (hidden) {
    const { at, name, count } = hidden
    const more = count > 1 ? `, and ${count - 1} more,` : ''
    const what = `${name}${more} cannot be seen but is read by a model: remove it.`
    found.push({ code: 'hidden_unicode', what, place: { line: lineAt(text, at) } })
  }
  const secret = findSecret(text)
  if (secret) {
    const what = `this looks like ${secret.kind}: take it out of the file and make it invalid.`
    found.push({ code: 'secret_suspected', what, place: { line: lineAt(text, secret.at) } })
  }
  return found
}

function lintBody(body: string, diagnostics: Diagnostics): void {
  if (body.trim() === '') {
    diagnostics.warn('body_empty', 'there are no instructions: write them below the frontmatter.')
    return
  }
  const lines = countLines(body)
  if (lines > MAX_LINES) {
    const what = `the body has ${lines} lines, more than ${MAX_LINES}: move parts into bundled files.`
    diagnostics.warn('body_long', what)
    return
  }
  const tokens = estimateTokens(body)
  if (tokens <= MAX_TOKENS) return
  const what = `the body has about ${tokens} tokens, more than ${MAX_TOKENS}: move parts into bundled files.`
  diagnostics.warn('body_long', what)
}

function countLines(text: string): number {
  const breaks = lineAt(text, text.length)
  return text.endsWith('\n') ? breaks - 1 : breaks
}
