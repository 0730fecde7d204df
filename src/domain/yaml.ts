import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  Lexer,
  type ParsedNode,
  Parser,
  type Scalar,
} from 'yaml'
import type { ErrorCode } from '../errors.ts'
import { findLoneSurrogate } from './lone-surrogate.ts'
import type { YamlEntry, YamlNode } from './yaml-node.ts'

const MAX_LEVELS = 16
const MAX_KEYS = 256

const OPTIONS = {
  prettyErrors: false,
  stringKeys: true,
  // It compares every pair of keys: 16,000 of them took 12 s.
  uniqueKeys: false,
  resolveKnownTags: false,
}

export interface YamlFault {
  code: ErrorCode
  /** Of the parser for YAML that is broken, else of ours, to choose the advice by. */
  reason: string
  message: string
  offset: number
}

export interface YamlReading {
  /** Undefined when the text holds no value at all. */
  root: YamlNode | undefined
  /** What no mode reads on with. */
  faults: YamlFault[]
  /** Second and later values of a key. */
  repeats: YamlEntry[]
}

/** Reads YAML 1.2 core, of a bounded depth, and nothing that stands for something else. */
export function readYaml(source: string): YamlReading {
  const reading: YamlReading = { root: undefined, faults: [], repeats: [] }
  const refuse = (code: ErrorCode, reason: string, message: string, offset: number) =>
    reading.faults.push({ code, reason, message, offset })

  const control = source.search(/(?![\t\n\u0085])\p{Cc}/u)
  if (control >= 0) refuse('frontmatter_yaml', 'CONTROL', 'A control character', control)

  const document = compose(source, refuse)
  if (!document) return reading
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    // An open bracket is only seen to be one where the next key stands.
    const isOpen = code === 'BAD_INDENT' && message.startsWith('Flow')
    const offset = isOpen ? source.slice(0, pos[0]).trimEnd().length - 1 : pos[0]
    refuse('frontmatter_yaml', code, message, offset)
  }
  if (document.contents) {
    reading.root = convert(document.contents, source, refuse, reading.repeats)
  }
  reading.faults.sort((a, b) => a.offset - b.offset)
  return reading
}

type ParsedScalar = Scalar.Parsed
type Refuse = (code: ErrorCode, reason: string, message: string, offset: number) => void

/** The parser keeps a stack of what is open, so that deep nesting is seen before it is followed. */
function compose(source: string, refuse: Refuse): Document.Parsed | undefined {
  const parser = new Parser()
  const deepest = MAX_LEVELS + 2 // the document and a scalar
  const tokens: CST.Token[] = []
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > deepest) {
      refuse('frontmatter_too_large', 'LEVELS', '', parser.offset)
      return undefined
    }
  }
  for (const token of parser.end()) tokens.push(token)

  for (const token of tokens) {
    if (token.type !== 'directive') continue
    refuse('frontmatter_yaml', 'DIRECTIVE', token.source, token.offset)
  }
  const [document, second] = new Composer(OPTIONS).compose(tokens, true, source.length)
  if (second) refuse('frontmatter_yaml', 'MULTIPLE_DOCS', '', second.range[0])
  return document
}

/** Our own tree of a document, and what in it is refused. */
function convert(contents: ParsedNode, source: string, refuse: Refuse, repeats: YamlEntry[]) {
  const anchors = new Set<string>()
  let keys = 0

  function toNode(node: ParsedNode, level: number): YamlNode {
    const [start, end] = node.range
    if (node.anchor !== undefined) {
      anchors.add(node.anchor)
      refuse('frontmatter_alias', 'ANCHOR', `&${node.anchor}`, start)
    }
    if (isAlias(node)) {
      if (!anchors.has(node.source)) refuse('frontmatter_yaml', 'ALIAS', `*${node.source}`, start)
      return { kind: 'scalar', value: null, source: '', start, end }
    }
    if (isScalar(node)) return toScalar(node, start, end)
    if (level > MAX_LEVELS) refuse('frontmatter_too_large', 'LEVELS', '', start)
    const flow = node.flow === true
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }) => toEntry(key, value, level))
      findRepeats(entries)
      return { kind: 'map', flow, entries, start, end: flow ? end : endOf(entries.at(-1)?.value) }
    }
    const items = node.items.map((item) => toNode(item, level + 1))
    return { kind: 'list', items, start, end: flow ? end : endOf(items.at(-1)) }
  }

  function toScalar({ value, source: written }: ParsedScalar, start: number, end: number) {
    if (typeof value !== 'string') {
      const plain = typeof value === 'number' || typeof value === 'boolean' ? value : null
      return { kind: 'scalar' as const, value: plain, source: written, start, end }
    }
    if (findLoneSurrogate(value) >= 0) refuse('lone_surrogate', 'ESCAPE', '', start)
    if (value.includes('\0')) refuse('nul_byte', 'ESCAPE', '', start)
    return { kind: 'scalar' as const, value, source: written, start, end }
  }

  function toEntry(key: ParsedNode, value: ParsedNode | null, level: number): YamlEntry {
    const [start, keyEnd] = key.range
    const name = isScalar(key) ? String(key.value) : ''
    keys++
    if (keys === MAX_KEYS + 1) refuse('frontmatter_too_large', 'KEYS', '', start)
    if (key.anchor !== undefined) refuse('frontmatter_alias', 'ANCHOR', `&${key.anchor}`, start)
    if (name === '<<' && source[start] === '<') refuse('frontmatter_alias', 'MERGE', name, start)
    if (findLoneSurrogate(name) >= 0) refuse('lone_surrogate', 'ESCAPE', '', start)
    if (name.includes('\0')) refuse('nul_byte', 'ESCAPE', '', start)
    if (!value) {
      const nothing = {
        kind: 'scalar' as const,
        value: null,
        source: '',
        start: keyEnd,
        end: keyEnd,
      }
      return { key: name, start, keyEnd, colon: -1, value: nothing }
    }
    const colon = source.indexOf(':', keyEnd)
    const node = toNode(value, level + 1)
    if (value.tag !== undefined) node.start = colon + 1
    return { key: name, start, keyEnd, colon, value: node }
  }

  function findRepeats(entries: YamlEntry[]): void {
    const seen = new Set<string>()
    for (const entry of entries) {
      if (seen.has(entry.key)) repeats.push(entry)
      seen.add(entry.key)
    }
  }

  return toNode(contents, 1)
}

const endOf = (last: YamlNode | undefined): number => last?.end ?? 0
