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
  /**
   * Names, the best match first: which skills keep their lines where not all can. It moves no
   * skill from its place, and changes nothing while all lines fit.
   */
  ranking?: readonly string[]
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
type Skills = readonly Listed[]

/**
 * What the model is shown of every skill, in code-point order of the names. Over the ceiling it
 * degrades: shortened descriptions, then names, then the best matches with as many names as fit and
 * a line that counts the others.
 */
export function renderCatalog(
  entries: readonly Listed[],
  options: CatalogOptions,
): RenderedCatalog {
  const layout = options.format === 'list' ? listLayout : xmlLayout
  const skills = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const room = (options.maxTokens ?? Number.POSITIVE_INFINITY) * 100
  if (skills.length === 0) return finish([], { pieces: within([layout.empty], room), shown: [] })
  const print = printOf(layout, options.tags)
  const best = placesOf(options.ranking ?? [], skills)
  const tier =
    showFull(skills, print, room) ??
    showShort(skills, print, room, best) ??
    showNames(skills, print, room) ??
    showSome(skills, print, room, best)
  return finish(skills, tier)
}

/** What a skill costs in a catalog, shown whole in the list layout and without tags. */
export function catalogLineTokens(skill: Pick<CatalogEntry, 'name' | 'description'>): number {
  return estimateTokens(`${catalogLine(skill)}\n`)
}

/** How the list layout shows a skill whole, without tags. */
export const catalogLine = ({
  name,
  description,
}: Pick<CatalogEntry, 'name' | 'description'>): string =>
  listLayout.full(name, listLayout.escape(oneLine(description)))

/** Where the ranked skills stand, the best first. */
function placesOf(ranking: readonly string[], skills: Skills): number[] {
  const ranks = new Map(ranking.map((name, rank) => [name, rank]))
  if (ranks.size === 0) return []
  const found = skills.flatMap(({ name }, index) => {
    const rank = ranks.get(name)
    return rank === undefined ? [] : { rank, index }
  })
  return found.sort((a, b) => a.rank - b.rank).map(({ index }) => index)
}

/** A layout that reads of a skill what it shows, when it shows it: of ten thousand few are. */
interface Print extends CatalogLayout {
  describe(skill: Listed): string
  suffix(skill: Listed): string
}

const printOf = (layout: CatalogLayout, tags: boolean): Print => ({
  ...layout,
  describe: ({ description }) => layout.escape(oneLine(description)),
  suffix: (skill) => (tags && layout.tags ? tagSuffix(layout, skill.tags) : ''),
})

interface Tier {
  /** What is joined by line breaks. */
  pieces: string[]
  /** How each skill is shown, at its place; a hole where there was no room. */
  shown: (OfferedSkill['shown'] | undefined)[]
}

function* framed(print: Print, skills: Skills, show: (skill: Listed) => string) {
  yield* print.opening
  for (const skill of skills) yield show(skill)
  yield* print.closing
}

function showFull(skills: Skills, print: Print, room: number): Tier | undefined {
  const pieces = within(
    framed(print, skills, (skill) => fullLine(skill, print)),
    room,
  )
  return pieces.length > 0 ? { pieces, shown: skills.map(() => 'full') } : undefined
}

const fullLine = (skill: Listed, print: Print): string =>
  print.full(skill.name, print.describe(skill) + print.suffix(skill))

/** In hundredths of a token: some four words. Less of a description tells nothing. */
const SHORTEST_DESCRIPTION = 600

/** How many of the best matches keep whole descriptions while others are cut. */
const KEPT = 10

function showShort(
  skills: Skills,
  print: Print,
  room: number,
  best: readonly number[],
): Tier | undefined {
  const around = within(
    framed(print, skills, ({ name }) => print.full(name, ELLIPSIS)),
    room,
  )
  if (around.length === 0) return undefined
  const left = room - cost(around) + skills.length * measureTokens(ELLIPSIS)
  const texts = skills.map((skill) => [print.describe(skill), print.suffix(skill)] as const)
  const costs = texts.map(([text, tags]) => measureTokens(print.gap + text + tags))
  const caps = capsOf(costs, left, best.slice(0, KEPT))
  if (!caps) return undefined
  const shown: Tier['shown'] = []
  const short = skills.map(({ name }, index) => {
    const [text, tags] = texts[index] ?? ['', '']
    const whole = (costs[index] ?? 0) <= caps(index)
    const kept = whole ? text + tags : shorten(print.gap + text, caps(index)).trimStart()
    shown.push(whole ? 'full' : kept === '' ? 'name' : 'short')
    return kept === '' ? print.bare(name) : print.full(name, kept)
  })
  return { pieces: [...print.opening, ...short, ...print.closing], shown }
}

/** As many of the best as can stay whole while enough is left of all others. */
function capsOf(costs: readonly number[], room: number, best: readonly number[]) {
  for (let kept = best.length; kept >= 0; kept--) {
    const whole = new Set(best.slice(0, kept))
    const taken = [...whole].reduce((sum, index) => sum + (costs[index] ?? 0), 0)
    const others = costs.filter((_, index) => !whole.has(index))
    const cap = commonCap(others, room - taken)
    if (cap >= SHORTEST_DESCRIPTION) {
      return (index: number) => (whole.has(index) ? Number.POSITIVE_INFINITY : cap)
    }
  }
  return undefined
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

function showNames(skills: Skills, print: Print, room: number): Tier | undefined {
  const pieces = within(
    framed(print, skills, ({ name }) => print.bare(name)),
    room,
  )
  return pieces.length > 0 ? { pieces, shown: skills.map(() => 'name') } : undefined
}

function showSome(skills: Skills, print: Print, room: number, best: readonly number[]): Tier {
  const note = (more: number): string =>
    more === 1
      ? '(1 more skill: use search_skills to find it)'
      : `(${more} more skills: use search_skills to find more)`
  const frame = cost([...print.opening, ...print.closing, ''])
  let left = room - cost([note(skills.length)])
  if (left < 0) return { pieces: [], shown: [] }
  const shown: Tier['shown'] = skills.map(() => undefined)
  const texts = new Map<number, string>()
  const show = (index: number, how: 'full' | 'name', text: string): boolean => {
    const price = cost([text, '']) + (texts.size === 0 ? frame : 0)
    if (price > left) return false
    left -= price
    shown[index] = how
    texts.set(index, text)
    return true
  }

  for (const index of best) {
    const skill = skills[index]
    if (!skill || texts.has(index)) continue
    if (!show(index, 'full', fullLine(skill, print))) show(index, 'name', print.bare(skill.name))
  }
  for (const [index, { name }] of skills.entries()) {
    if (!texts.has(index) && !show(index, 'name', print.bare(name))) break
  }
  const inOrder = [...texts].sort(([a], [b]) => a - b).map(([, text]) => text)
  const block = inOrder.length > 0 ? [...print.opening, ...inOrder, ...print.closing] : []
  return { pieces: [...block, note(skills.length - inOrder.length)], shown }
}

/** The pieces if they fit, joined by line breaks, else none of them; asks for no more than that. */
function within(pieces: Iterable<string>, room: number): string[] {
  if (room === Number.POSITIVE_INFINITY) return [...pieces]
  const kept: string[] = []
  let sum = 0
  for (const piece of pieces) {
    const before = kept.at(-1)
    if (before !== undefined) sum += measureTokens(`${before}\n`)
    if (sum > room) return []
    kept.push(piece)
  }
  return sum + measureTokens(kept.at(-1) ?? '') <= room ? kept : []
}

/** What the pieces cost when joined by line breaks. */
const cost = (pieces: readonly string[]): number =>
  pieces.reduce(
    (sum, piece, index) => sum + measureTokens(index < pieces.length - 1 ? `${piece}\n` : piece),
    0,
  )

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
