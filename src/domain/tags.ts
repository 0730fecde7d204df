import type { Diagnostics } from './diagnostics.ts'
import type { Frontmatter } from './frontmatter.ts'
import { findValue, kindOf, textOf, type YamlNode } from './yaml-node.ts'

/** Of `tags`, then of `metadata.tags`; repeats are found without case. */
export function readTags(frontmatter: Frontmatter, diagnostics: Diagnostics): string[] {
  const { root } = frontmatter
  const metadata = findValue(root, 'metadata')
  const more = metadata?.kind === 'map' ? findValue(metadata, 'tags') : undefined
  const texts = [
    ...textsOf(findValue(root, 'tags'), 'tags', frontmatter, diagnostics),
    ...textsOf(more, 'metadata', frontmatter, diagnostics),
  ]
  const tags = new Map<string, string>()
  for (const tag of texts) {
    const folded = tag.toLowerCase()
    if (!tags.has(folded)) tags.set(folded, tag)
  }
  return [...tags.values()]
}

function textsOf(
  value: YamlNode | undefined,
  field: string,
  { yaml, placeOf }: Frontmatter,
  diagnostics: Diagnostics,
): string[] {
  if (!value || (value.kind === 'scalar' && value.value === null)) return []
  const whole = textOf(value)
  if (whole !== undefined) return split(whole, whole.includes(',') ? /,/ : /\s/)
  const items = value.kind === 'list' ? value.items : [value]
  return items.flatMap((item) => {
    const text = textOf(item)
    if (text !== undefined) return split(text, /,/)
    const what = `an entry of the tags is ${kindOf(item)}, not text: write the tags as [one, two].`
    diagnostics.rescue('tags_item', what, placeOf(field))
    return split(yaml.slice(item.start, item.end), /\n/)
  })
}

const split = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
