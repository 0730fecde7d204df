import { isNothing, type YamlEntry, type YamlMap, type YamlNode } from './yaml-node.ts'
import { textToYaml, toYaml } from './yaml-text.ts'

/** Text to put where another stands; all offsets are those of the unchanged text. */
export interface Splice {
  start: number
  end: number
  text: string
}

type Patch = Record<string, unknown>

const isPatch = (value: unknown): value is Patch =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A merge patch (RFC 7396) of a mapping as splices, which leave every other byte as it is. */
export function patchYaml(yaml: string, map: YamlMap, patch: Patch): Splice[] {
  if (map.flow) return [{ start: map.start, end: map.end, text: patchFlow(yaml, map, patch) }]
  const splices: Splice[] = []
  const added: string[] = []
  const staying = map.entries.filter(({ key }) => !Object.hasOwn(patch, key) || patch[key] !== null)
  const above = ({ start }: YamlEntry) => staying.findLast((other) => other.start < start)
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    const [entry, ...repeats] = map.entries.filter((other) => other.key === key)
    if (entry && value !== null && entry.colon >= 0) {
      splices.push(...patchEntry(yaml, entry, value))
      continue
    }
    for (const old of entry ? [entry, ...repeats] : [])
      splices.push(removeLines(yaml, old, above(old)))
    if (value !== null) added.push(`${textToYaml(key)}: ${toYaml(patched(value))}\n`)
  }
  if (added.length > 0) splices.push(addLines(yaml, map, added))
  return splices
}

function patchEntry(yaml: string, entry: YamlEntry, value: unknown): Splice[] {
  const { value: old } = entry
  if (old.kind !== 'map' || !isPatch(value)) return [replaceValue(yaml, entry, patched(value))]
  const isEmptied =
    old.entries.every(({ key }) => value[key] === null) &&
    Object.values(value).every((member) => member === null)
  return isEmptied ? [replaceValue(yaml, entry, {})] : patchYaml(yaml, old, value)
}

/** The value on one line, where the old one began. */
function replaceValue(yaml: string, entry: YamlEntry, value: unknown): Splice {
  const behindColon = entry.colon + 1
  const text = toYaml(value)
  const end = endOfValue(yaml, entry)
  if (end === behindColon) return { start: end, end, text: ` ${text}` }
  const { start } = entry.value
  const between = yaml.slice(behindColon, start)
  if (between.trim() === '' && between.includes('\n')) {
    return { start: behindColon, end, text: ` ${text}` }
  }
  // Below a comment, where a list may stand no deeper than its key but brackets may not.
  const lead = between === '' || between.endsWith('\n') ? '  ' : ''
  return { start, end, text: `${between === '' ? ' ' : lead}${text}` }
}

function removeLines(yaml: string, entry: YamlEntry, above: YamlEntry | undefined): Splice {
  const start = yaml.lastIndexOf('\n', entry.start - 1) + 1
  const end = lineEnd(yaml, endOfValue(yaml, entry))
  const text = lastLeaf(above?.value)
  // A block text that keeps its last breaks would take the blank lines below for its own.
  const keeps = text !== undefined && /^[|>]\d?\+/.test(yaml.slice(text.start, text.start + 3))
  const blank = keeps ? (/^(?:[ \t]*\n)*/.exec(yaml.slice(end))?.[0].length ?? 0) : 0
  return { start, end: end + blank, text: '' }
}

function lastLeaf(node: YamlNode | undefined): YamlNode | undefined {
  if (node?.kind === 'map') return lastLeaf(node.entries.at(-1)?.value)
  return node?.kind === 'list' ? lastLeaf(node.items.at(-1)) : node
}

function addLines(yaml: string, { entries }: YamlMap, added: readonly string[]): Splice {
  const [first] = entries
  const last = entries.at(-1)
  if (!first || !last) return { start: yaml.length, end: yaml.length, text: added.join('') }
  const lineStart = yaml.lastIndexOf('\n', first.start - 1) + 1
  const indent = /^ */.exec(yaml.slice(lineStart, first.start))?.[0] ?? ''
  // A block text owns the blank lines behind it.
  const { end } = last.value
  const at = yaml[end - 1] === '\n' ? end : lineEnd(yaml, endOfValue(yaml, last))
  return { start: at, end: at, text: added.map((line) => indent + line).join('') }
}

/** A mapping in brackets, written again from the pieces of the old one. */
function patchFlow(yaml: string, map: YamlMap, patch: Patch): string {
  const rest = new Map(Object.entries(patch).filter(([, value]) => value !== undefined))
  const known = new Set(map.entries.map(({ key }) => key))
  let text = ''
  for (const [index, entry] of map.entries.entries()) {
    const previous = map.entries[index - 1]
    const value = rest.get(entry.key)
    if (value === null) continue
    if (previous && text !== '') text += yaml.slice(endOfEntry(yaml, previous), entry.start)
    text += value === undefined ? sourceOf(yaml, entry) : patchFlowEntry(yaml, entry, value)
  }
  for (const [key, value] of rest) {
    if (value === null || known.has(key)) continue
    text += `${text === '' ? '' : ', '}${textToYaml(key)}: ${toYaml(patched(value))}`
  }
  const [first] = map.entries
  const last = map.entries.at(-1)
  if (text === '' || !first || !last) return `{${text}}`
  return yaml.slice(map.start, first.start) + text + yaml.slice(endOfEntry(yaml, last), map.end)
}

function patchFlowEntry(yaml: string, entry: YamlEntry, value: unknown): string {
  const { value: old } = entry
  const key = yaml.slice(entry.start, entry.keyEnd)
  if (old.kind !== 'map' || !isPatch(value)) return `${key}: ${toYaml(patched(value))}`
  return yaml.slice(entry.start, old.start) + patchFlow(yaml, old, value)
}

const sourceOf = (yaml: string, entry: YamlEntry): string =>
  yaml.slice(entry.start, endOfEntry(yaml, entry))

const endOfEntry = (yaml: string, entry: YamlEntry): number =>
  entry.colon < 0 ? entry.keyEnd : endOfValue(yaml, entry)

/** Behind the last character of a value; behind the colon where there is none. */
function endOfValue(yaml: string, { colon, keyEnd, value }: YamlEntry): number {
  if (colon < 0) return keyEnd
  if (isNothing(value)) return colon + 1
  let end = value.end
  while (end > value.start && ' \t\n'.includes(yaml.charAt(end - 1))) end--
  return end
}

function lineEnd(yaml: string, from: number): number {
  const end = yaml.indexOf('\n', from)
  return end < 0 ? yaml.length : end + 1
}

/** What a patch makes of nothing: itself, without its nulls. */
function patched(value: unknown): unknown {
  if (!isPatch(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(kept.map(([key, member]) => [key, patched(member)]))
}
