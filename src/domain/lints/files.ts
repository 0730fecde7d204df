import { withLineFeeds } from '../decode.ts'
import type { Diagnostics } from '../diagnostics.ts'
import type { BundleFile } from '../skill.ts'
import { findHidden } from './hidden-unicode.ts'
import { warnOfSome } from './some.ts'
import { findCharacters } from './text.ts'

const MAX_BYTES = 1024 * 1024

/** Warns of what the names and the texts of bundled files hold; SKILL.md is linted on its own. */
export function lintFiles(files: readonly BundleFile[], diagnostics: Diagnostics): void {
  const found = files.flatMap((file) => [...lintName(file), ...lintContents(file)])
  for (const code of ['hidden_unicode', 'secret_suspected'] as const) {
    const ofCode = found.filter((finding) => finding.code === code)
    warnOfSome(ofCode, code, diagnostics, ({ what, place }) => [what, place])
  }
}

function lintName({ path }: BundleFile): ReturnType<typeof findCharacters> {
  const hidden = findHidden(path)
  if (!hidden) return []
  const what = `the name of the file holds ${hidden.name}, which cannot be seen: rename it.`
  return [{ code: 'hidden_unicode', what, place: { file: path } }]
}

function lintContents({ path, bytes }: BundleFile): ReturnType<typeof findCharacters> {
  const found = findCharacters(textOf(bytes))
  return found.map(({ place, ...rest }) => ({ ...rest, place: { ...place, file: path } }))
}

/** Empty for what is no text, or too much of it to be read by anyone. */
function textOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) return ''
  try {
    return withLineFeeds(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return ''
  }
}
