import type { Diagnostics } from './diagnostics.ts'
import { excerpt } from './excerpt.ts'
import type { Frontmatter } from './frontmatter.ts'
import { findValue, kindOf, textOf } from './yaml-node.ts'

/**
 * The trimmed text of a key that a skill must have. Undefined, and refused, when it is neither
 * there nor made up by `fallback`, which lenient mode asks.
 */
export function readRequiredText(
  field: 'name' | 'description',
  { root, placeOf }: Frontmatter,
  diagnostics: Diagnostics,
  fallback: () => string | undefined,
): string | undefined {
  const node = findValue(root, field)
  const place = placeOf(field)
  const text = textOf(node)
  if (node && text !== undefined && !isBlank(text)) {
    if (node.kind === 'scalar' && typeof node.value !== 'string') {
      const what = `"${field}" is ${kindOf(node)}, not text: quote it, as in ${field}: "${text}".`
      diagnostics.rescue(`${field}_not_string`, what, place)
    }
    return text.trim()
  }
  const wrongKind = node !== undefined && node.kind !== 'scalar'
  const code = wrongKind ? (`${field}_not_string` as const) : (`${field}_missing` as const)
  const state = wrongKind ? `is ${kindOf(node)}, not text` : node ? 'is empty' : 'is missing'
  const what = `"${field}" ${state}: write a line "${field}: …" with text behind it.`
  const found = diagnostics.lenient ? fallback() : undefined
  if (found === undefined) diagnostics.refuse(code, what, place)
  else diagnostics.warn(code, `${what} ${excerpt(found)} was taken instead.`, place)
  return found
}

/** Nothing that could be seen: white space and zero-width characters. */
const isBlank = (text: string): boolean => !/[^\s\p{Default_Ignorable_Code_Point}]/u.test(text)
