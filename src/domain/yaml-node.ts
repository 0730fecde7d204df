/** Where a value lies in the YAML text, its quotes, brackets and trailing breaks included. */
interface Span {
  start: number
  end: number
}

export interface YamlScalar extends Span {
  kind: 'scalar'
  value: string | number | boolean | null
  /** As written, for what is not text. */
  source: string
}

export interface YamlList extends Span {
  kind: 'list'
  items: YamlNode[]
}

export interface YamlMap extends Span {
  kind: 'map'
  /** In brackets, on as many lines as it likes. */
  flow: boolean
  /** In order, repeated keys too. */
  entries: YamlEntry[]
}

export interface YamlEntry {
  key: string
  /** Of the key. */
  start: number
  keyEnd: number
  /** -1 where a key stands in brackets without one. */
  colon: number
  value: YamlNode
}

export type YamlNode = YamlScalar | YamlList | YamlMap

export const EMPTY_MAP: YamlMap = { kind: 'map', flow: false, entries: [], start: 0, end: 0 }

/** The value of a key. Where a key is repeated, the first one counts. */
export const findValue = (map: YamlMap, key: string): YamlNode | undefined =>
  map.entries.find((entry) => entry.key === key)?.value

/**
 * A value as JSON. A plain scalar that would not be written the same way again (`1.10`, `007`,
 * `1e3`) is the text that stands there.
 */
function asWritten(node: YamlNode): unknown {
  if (node.kind === 'scalar') return scalarAsWritten(node)
  if (node.kind === 'list') return node.items.map(asWritten)
  return mapAsWritten(node)
}

/** Own properties only, whatever the keys are called: `__proto__` is one like any other. */
export function mapAsWritten({ entries }: YamlMap): Record<string, unknown> {
  const values = new Map<string, unknown>()
  for (const { key, value } of entries) {
    if (!values.has(key)) values.set(key, asWritten(value))
  }
  return Object.fromEntries(values)
}

const scalarAsWritten = ({ value, source }: YamlScalar): unknown =>
  value === null || typeof value === 'string' || JSON.stringify(value) === source ? value : source

/** A scalar as text; undefined for null, lists and mappings. */
export function textOf(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== 'scalar' || node.value === null) return undefined
  return typeof node.value === 'string' ? node.value : node.source
}

/** Where no value is written at all, not even `null` or `~`. */
export const isNothing = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === null && node.source === ''

export function kindOf(node: YamlNode): string {
  if (node.kind === 'map') return 'a mapping'
  if (node.kind === 'list') return 'a list'
  return node.value === null ? 'empty' : `a ${typeof node.value}`
}
