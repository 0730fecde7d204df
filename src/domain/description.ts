import type { Diagnostics } from './diagnostics.ts'
import type { Frontmatter } from './frontmatter.ts'
import { readRequiredText } from './required-text.ts'
import { MAX_DESCRIPTION } from './skill.ts'

/** Trimmed, not folded; empty only when it was refused. */
export function readDescription(
  frontmatter: Frontmatter,
  body: string,
  diagnostics: Diagnostics,
): string {
  const fromBody = () => firstLineOf(body)
  const description = readRequiredText('description', frontmatter, diagnostics, fromBody) ?? ''
  const length = codePoints(description)
  if (length > MAX_DESCRIPTION) {
    const what = `the description has ${length} characters, of ${MAX_DESCRIPTION} allowed: shorten it.`
    diagnostics.rescue('description_too_long', what, frontmatter.placeOf('description'))
  }
  return description
}

/** The first line of a body that says something, without its `#` and with single blanks. */
function firstLineOf(body: string): string | undefined {
  const line = body.split('\n').find((line) => /^(?!\s*<!--).*[\p{L}\p{N}]/u.test(line))
  return line
    ?.replace(/^[#\s]+/, '')
    .trim()
    .replaceAll(/\s+/g, ' ')
}

export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
