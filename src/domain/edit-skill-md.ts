import { allowedToolsKey } from './allowed-tools.ts'
import { decodeRaw, withLineFeeds } from './decode.ts'
import { Diagnostics } from './diagnostics.ts'
import { cutBlock } from './fence.ts'
import { type Frontmatter, readFrontmatter } from './frontmatter.ts'
import { patchYaml, type Splice } from './yaml-edit.ts'
import { findValue } from './yaml-node.ts'

/** What to change, as it stands on the wire. Null takes a key away; what is left out stays. */
export interface SkillEdit {
  description?: string | null
  tags?: readonly string[] | null
  allowed_tools?: readonly string[] | null
  license?: string | null
  compatibility?: string | null
  /** A merge patch (RFC 7396) of the mapping that is there. */
  metadata?: Record<string, unknown> | null
  body?: string | null
}

/**
 * Edits a SKILL.md in place: all bytes but those of the edited values stay. A file without a block
 * gets one, and broken YAML is first repaired as lenient mode reads it.
 */
export function editSkillMd(bytes: Uint8Array, edit: SkillEdit): Uint8Array {
  const diagnostics = new Diagnostics('SKILL.md', 'lenient')
  const raw = decodeRaw(bytes, diagnostics)
  const [lineBreak = '\n'] = /\r\n?|\n/.exec(raw) ?? []
  const withBreaks = (text: string) => withLineFeeds(text).replaceAll('\n', lineBreak)
  const mark = raw.startsWith('\uFEFF') ? '\uFEFF' : ''
  const text = withLineFeeds(raw.slice(mark.length))

  const block = cutBlock(text, diagnostics)
  if (!block) {
    const head = `${mark}${withBreaks('---\n---\n\n')}`
    return editSkillMd(encode(head + raw.slice(mark.length)), edit)
  }
  const frontmatter = readFrontmatter(block, diagnostics)
  const { yaml, root } = frontmatter
  const toRaw = ({ start, end, text }: Splice): Splice => ({
    start: rawOffset(raw, start),
    end: rawOffset(raw, end),
    text: withBreaks(text),
  })
  if (yaml !== block.yaml) {
    const repair = { start: block.start, end: block.start + block.yaml.length, text: yaml }
    return editSkillMd(encode(splice(raw, [toRaw(repair)])), edit)
  }
  const splices = patchYaml(yaml, root, toPatch(edit, frontmatter)).map((part) =>
    toRaw({ text: part.text, start: block.start + part.start, end: block.start + part.end }),
  )
  if (edit.body !== undefined) {
    const start = rawOffset(raw, block.bodyStart)
    const gap = text.slice(0, block.bodyStart).endsWith('\n') ? '' : '\n'
    splices.push({ start, end: raw.length, text: withBreaks(gap + (edit.body ?? '')) })
  }
  return encode(splice(raw, splices))
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The keys of the file that an edit is about. */
function toPatch(edit: SkillEdit, frontmatter: Frontmatter): Record<string, unknown> {
  const { description, tags, allowed_tools: allowedTools, license, compatibility } = edit
  const toolsKey = allowedToolsKey(frontmatter) ?? 'allowed-tools'
  const tools =
    allowedTools === null
      ? { 'allowed-tools': null, allowed_tools: null }
      : { [toolsKey]: allowedTools }
  const metadata = edit.metadata
  return {
    metadata,
    description,
    license,
    compatibility,
    ...tools,
    tags,
    ...placeTags(edit, frontmatter),
  }
}

/**
 * `metadata.tags` counts as well: it is edited where it stands alone, and goes where it would add
 * to what was asked for.
 */
function placeTags({ tags, metadata }: SkillEdit, frontmatter: Frontmatter) {
  const mapping = findValue(frontmatter.root, 'metadata')
  if (tags === undefined || metadata === null || mapping?.kind !== 'map') return {}
  if (!findValue(mapping, 'tags')) return {}
  const alone = !findValue(frontmatter.root, 'tags')
  return alone
    ? { metadata: { tags, ...metadata }, tags: undefined }
    : { metadata: { tags: null, ...metadata } }
}

/** Where an offset of the text with LF and without a mark lies in the text as it stands. */
function rawOffset(raw: string, offset: number): number {
  let at = raw.startsWith('\uFEFF') ? 1 : 0
  for (let seen = 0; seen < offset; seen++) at += raw.startsWith('\r\n', at) ? 2 : 1
  return at
}

/** At one place what is inserted stands before what is replaced, each in the order it comes. */
function splice(text: string, splices: readonly Splice[]): string {
  let result = ''
  let done = 0
  for (const { start, end, text: part } of splices.toSorted(
    (a, b) => a.start - b.start || a.end - b.end,
  )) {
    result += text.slice(done, start) + part
    done = end
  }
  return result + text.slice(done)
}
