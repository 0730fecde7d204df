import type { CatalogEntry } from './catalog-entry.ts'
import { type CatalogLayout, listLayout, oneLine, tagSuffix, xmlLayout } from './catalog-line.ts'
import { ELLIPSIS, shorten } from './shorten.ts'
import { estimateTokens, measureTokens } from './tokens.ts'

export interface CatalogOptions {
  format: 'list' | 'xml'
  /** Tags behind the descriptions; the xml layout has no place for them. */
  tags: boolean
  /** A ceiling on `tokens`; null means none. */
  maxTokens: number | null
}

export interface OfferedSkill extends Pick<CatalogEntry, 'name' | 'version' | 'digest'> {
  shown: 'full' | 'short' | 'name'
}

/** Every skill that was handed in is either in `offered` or in `omitted`. */
export interface RenderedCatalog {
  text: string
  tokens: number
  offered: OfferedSkill[]
  omitted: string[]
}

type Listed = Pick<CatalogEntry, 'name' | 'description' | 'tags' | 'version' | 'digest'>

/**
 * What the model is shown of every skill, in code-point order of the names. Over the ceiling it
 * degrades: shortened descriptions, then names, then as many names as fit and a line that counts
 * the others.
 */
export function renderCatalog(
  entries: readonly Listed[],
  options: CatalogOptions,
): RenderedCatalog {
  const layout = options.format === 'list' ? listLayout : xmlLayout
  const skills = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const room = (options.maxTokens ?? Number.POSITIVE_INFINITY) * 100
  if (skills.length === 0) return finish([], { pieces: within([layout.empty], room), shown: [] })
  const lines = skills.map((skill) => toLine(skill, layout, options.tags))
  const tier =
    showFull(lines, layout, room) ??
    showShort(lines, layout, room) ??
    showNames(lines, layout, room) ??
    showSome(lines, layout, room)
  return finish(skills, tier)
}

/** What a skill costs in a catalog, shown whole in the list layout and without tags. */
export function catalogLineTokens(skill: Pick<CatalogEntry, 'name' | 'description'>): number {
  const text = listLayout.escape(oneLine(skill.description))
  return estimateTokens(`${listLayout.full(skill.name, text)}\n`)
}

interface Line {
  name: string
  description: string
  tags: string
}

interface Tier {
  /** What is joined by line breaks. */
  pieces: string[]
  shown: OfferedSkill['shown'][]
}

function toLine(skill: Listed, layout: CatalogLayout, tags: boolean): Line {
  return {
    name: skill.name,
    description: layout.escape(oneLine(skill.description)),
    tags: tags && layout.tags ? tagSuffix(layout, skill.tags) : '',
  }
}

function showFull(lines: Line[], layout: CatalogLayout, room: number): Tier | undefined {
  const full = lines.map(({ name, description, tags }) => layout.full(name, description + tags))
  const pieces = within([...layout.opening, ...full, ...layout.closing], room)
  return pieces.length > 0 ? { pieces, shown: lines.map(() => 'full') } : undefined
}

/** In hundredths of a token: some four words. Less of a description tells nothing. */
const SHORTEST_DESCRIPTION = 600

function showShort(lines: Line[], layout: CatalogLayout, room: number): Tier | undefined {
  const around = lines.map(({ name }) => layout.full(name, ELLIPSIS))
  const left = room - cost([...layout.opening, ...around, ...layout.closing], room)
  if (left < 0) return undefined
  const costs = lines.map(({ description, tags }) => measureTokens(layout.gap + description + tags))
  const cap = commonCap(costs, left + lines.length * measureTokens(ELLIPSIS))
  if (cap < SHORTEST_DESCRIPTION) return undefined
  const shown: Tier['shown'] = []
  const short = lines.map(({ name, description, tags }, index) => {
    const whole = (costs[index] ?? 0) <= cap
    const text = whole ? description + tags : shorten(layout.gap + description, cap).trimStart()
    shown.push(whole ? 'full' : text === '' ? 'name' : 'short')
    return text === '' ? layout.bare(name) : layout.full(name, text)
  })
  return { pieces: [...layout.opening, ...short, ...layout.closing], shown }
}

/** The largest number to which all costs can be cut so that together they stay within the room. */
function commonCap(costs: readonly number[], room: number): number {
  let low = 0
  let high = costs.reduce((a, b) => Math.max(a, b), 0)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (costs.reduce((sum, cost) => sum + Math.min(cost, middle), 0) <= room) low = middle
    else high = middle - 1
  }
  return low
}

function showNames(lines: Line[], layout: CatalogLayout, room: number): Tier | undefined {
  const names = lines.map(({ name }) => layout.bare(name))
  const pieces = within([...layout.opening, ...names, ...layout.closing], room)
  return pieces.length > 0 ? { pieces, shown: lines.map(() => 'name') } : undefined
}

function showSome(lines: Line[], layout: CatalogLayout, room: number): Tier {
  const note = (more: number): string =>
    `(${more} more ${more === 1 ? 'skill is' : 'skills are'} not shown)`
  let left = room - cost([note(lines.length)])
  if (left < 0) return { pieces: [], shown: [] }
  const frame = cost([...layout.opening, ...layout.closing, ''])
  const names: string[] = []
  for (const { name } of lines) {
    const line = layout.bare(name)
    left -= cost([line, '']) + (names.length === 0 ? frame : 0)
    if (left < 0) break
    names.push(line)
  }
  const block = names.length > 0 ? [...layout.opening, ...names, ...layout.closing] : []
  return {
    pieces: [...block, note(lines.length - names.length)],
    shown: names.map(() => 'name'),
  }
}

/** The pieces if they fit, else none of them. */
const within = (pieces: string[], room: number): string[] =>
  room === Number.POSITIVE_INFINITY || cost(pieces, room) <= room ? pieces : []

/** What the pieces cost when joined by line breaks; counted no further than the room. */
function cost(pieces: readonly string[], room = Number.POSITIVE_INFINITY): number {
  let sum = 0
  for (let index = 0; index < pieces.length && sum <= room; index++) {
    sum += measureTokens((pieces[index] ?? '') + (index < pieces.length - 1 ? '\n' : ''))
  }
  return sum
}

function finish(skills: readonly Listed[], { pieces, shown }: Tier): RenderedCatalog {
  const text = pieces.join('\n')
  const offered: OfferedSkill[] = []
  const omitted: string[] = []
  skills.forEach(({ name, version, digest }, index) => {
    const how = shown[index]
    if (how === undefined) omitted.push(name)
    else offered.push({ name, version, digest, shown: how })
  })
  return { text, tokens: estimateTokens(text), offered, omitted }
}
