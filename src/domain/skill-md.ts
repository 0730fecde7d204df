import { allowedToolsKey, readAllowedTools } from './allowed-tools.ts'
import { decode } from './decode.ts'
import { codePoints, readDescription } from './description.ts'
import type { Diagnostics } from './diagnostics.ts'
import { cutBlock } from './fence.ts'
import { type Frontmatter, NO_FRONTMATTER, readFrontmatter } from './frontmatter.ts'
import { lintDescription } from './lints/description.ts'
import { lintLinks } from './lints/links.ts'
import { lintText } from './lints/text.ts'
import { lintTools } from './lints/tools.ts'
import { type NameSources, readName } from './name.ts'
import { MAX_COMPATIBILITY, type Skill } from './skill.ts'
import { readTags } from './tags.ts'
import {
  EMPTY_MAP,
  findValue,
  kindOf,
  mapAsWritten,
  textOf,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from './yaml-node.ts'

/** What else is known of a skill; what is not known is not linted. */
export interface Surroundings extends NameSources {
  /** Of all files of its bundle. */
  paths?: readonly string[]
  /** The names of the tools that the service has. */
  tools?: readonly string[]
}

/**
 * Reads a SKILL.md, and lints it. Throws, with every fault in `diagnostics`, unless it is a whole
 * skill.
 */
export function parseSkillMd(
  bytes: Uint8Array,
  diagnostics: Diagnostics,
  { paths, tools, ...sources }: Surroundings = {},
): Skill {
  const text = decode(bytes, diagnostics)
  const block = cutBlock(text, diagnostics)
  const body = text.slice(block?.bodyStart ?? 0)
  lintText(text, body, diagnostics)
  if (paths) lintLinks(text, body, paths, diagnostics)
  const frontmatter = block ? readFrontmatter(block, diagnostics) : NO_FRONTMATTER

  const { name, title } = readName(frontmatter, sources, diagnostics)
  const description = readDescription(frontmatter, body, diagnostics)
  const skill: Skill = {
    name,
    title,
    description,
    tags: readTags(frontmatter, diagnostics),
    allowedTools: readAllowedTools(frontmatter, diagnostics),
    body,
    ...readOptional(frontmatter, diagnostics),
  }
  lintDescription(description, diagnostics, frontmatter.placeOf('description'))
  const toolsKey = allowedToolsKey(frontmatter)
  if (tools && skill.allowedTools && toolsKey !== undefined) {
    lintTools(skill.allowedTools, tools, diagnostics, frontmatter.placeOf(toolsKey))
  }
  diagnostics.throwIfRefused()
  return skill
}

/** What a file may leave out, and what is no key of ours. */
function readOptional(frontmatter: Frontmatter, diagnostics: Diagnostics) {
  const { root, placeOf } = frontmatter
  const compatibility = textIn(root, 'compatibility')
  const length = codePoints(compatibility ?? '')
  if (length > MAX_COMPATIBILITY) {
    const what = `the compatibility has ${length} characters, of ${MAX_COMPATIBILITY} allowed: shorten it.`
    diagnostics.rescue('compatibility_too_long', what, placeOf('compatibility'))
  }
  const metadata = findValue(root, 'metadata') ?? EMPTY_MAP
  const known = metadata.kind === 'map' ? metadata : EMPTY_MAP
  if (known !== metadata && !isNull(metadata)) {
    const what = `"metadata" is ${kindOf(metadata)}, not a mapping: write indented lines of "key: value".`
    diagnostics.rescue('metadata_not_mapping', what, placeOf('metadata'))
  }
  const extra = mapAsWritten({ ...root, entries: root.entries.filter(isExtra(frontmatter)) })
  return {
    license: textIn(root, 'license'),
    compatibility,
    declaredVersion: textIn(root, 'version') ?? textIn(known, 'version'),
    metadata: mapAsWritten(known),
    extra,
    hidden: String(extra['disable-model-invocation']).toLowerCase() === 'true',
  }
}

const isNull = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null

const textIn = (map: YamlMap, key: string): string | null =>
  textOf(findValue(map, key))?.trim() || null

const TEXTS = new Set(['name', 'description', 'version', 'license', 'compatibility'])

/** What no field of a skill holds: other keys, and known ones whose value does not fit the field. */
function isExtra(frontmatter: Frontmatter): (entry: YamlEntry) => boolean {
  const toolsKey = allowedToolsKey(frontmatter)
  return ({ key, value }) => {
    if (key === 'tags' || key === toolsKey) return false
    if (key === 'metadata') return value.kind !== 'map' && !isNull(value)
    return !TEXTS.has(key) || value.kind !== 'scalar'
  }
}
