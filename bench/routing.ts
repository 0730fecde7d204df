import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Diagnostics } from '../src/domain/diagnostics.ts'
import { queryPhrases } from '../src/domain/search-terms.ts'
import { parseSkillMd } from '../src/domain/skill-md.ts'
import { openDatabase } from '../src/store/open.ts'
import { createSkillStore } from '../src/store/skill-store.ts'
import { storeMany } from '../test/store/store-many.ts'

/** Whether a search finds the skill that a request is for: `../shared/routing` says which it is. */
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    // Taken because every bench takes them; the ranking is the same in every round.
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    /** A PostgreSQL to measure instead of SQLite; its schema must be empty. */
    database: { type: 'string', default: 'sqlite::memory:' },
    shared: { type: 'string', default: join(import.meta.dirname, '../../shared') },
  },
})

const LEXICAL_TARGET = 0.97

interface Request {
  id: string
  text: string
  language: string
  kind: 'lexical' | 'paraphrase' | 'near-miss' | 'none'
  skills: string[]
  tempting?: string[]
  cross_language?: boolean
}

interface Ranked extends Request {
  hits: { name: string; score: number }[]
}

const routing = join(options.shared, 'routing')
const listed: { name: string; path: string }[] = JSON.parse(
  readFileSync(join(routing, 'skills.json'), 'utf8'),
)
const requests: Request[] = readFileSync(join(routing, 'queries.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const ranked = await rankAll()
const found = ranked.filter(({ kind }) => kind !== 'none')
const rows = [
  ...['lexical', 'paraphrase', 'near-miss'].map((kind) =>
    rowOf(
      kind,
      found.filter((request) => request.kind === kind),
    ),
  ),
  ...['en', 'zh', 'ja', 'mixed'].flatMap((language) => {
    const spoken = found.filter((request) => request.language === language)
    const lexical = spoken.filter(({ kind }) => kind === 'lexical')
    return [rowOf(language, spoken), rowOf(`${language} lexical`, lexical)]
  }),
  rowOf(
    'cross-language',
    found.filter((request) => request.cross_language),
  ),
  rowOf('all', found),
]
const nearMisses = found.filter(({ kind }) => kind === 'near-miss')
const none = ranked.filter(({ kind }) => kind === 'none')
const cutOff = cutOffOf(found)
const others = {
  tempted: shareOf(nearMisses, ({ tempting = [], hits }) => tempting.includes(hits[0]?.name ?? '')),
  none_found: shareOf(none, ({ hits }) => hits.length > 0),
  cut_off_at_95: cutOff,
  none_above_cut_off: shareOf(none, ({ hits }) => (hits[0]?.score ?? 0) >= cutOff),
}
const missed = rows.filter(
  ({ what, n, recall_5 }) => what.endsWith('lexical') && n > 0 && recall_5 < LEXICAL_TARGET,
)
process.stdout.write(options.json ? `${JSON.stringify({ rows, ...others }, null, 2)}\n` : table())
process.exitCode = missed.length > 0 ? 1 : 0

async function rankAll(): Promise<Ranked[]> {
  const db = await openDatabase(options.database)
  const made = listed.map(({ path }) => {
    const bytes = readFileSync(join(options.shared, path))
    return parseSkillMd(bytes, new Diagnostics('SKILL.md'))
  })
  await storeMany(db, made)
  const skills = createSkillStore(db)
  const answers: Ranked[] = []
  for (const request of requests) {
    const hits = await skills.search({ phrases: queryPhrases(request.text), limit: 10 })
    answers.push({ ...request, hits: hits.map(({ name, score }) => ({ name, score })) })
  }
  await db.destroy()
  return answers
}

/** Where the first right result stands, from 1; undefined when it is not among the first ten. */
function placeOf({ skills, hits }: Ranked): number | undefined {
  const index = hits.findIndex(({ name }) => skills.includes(name))
  return index < 0 ? undefined : index + 1
}

function rowOf(what: string, some: readonly Ranked[]) {
  const places = some.map(placeOf)
  const within = (limit: number) => shareOf(places, (place) => (place ?? 99) <= limit)
  const mrr = places.reduce<number>((sum, place) => sum + (place ? 1 / place : 0), 0)
  return {
    what,
    n: some.length,
    recall_1: within(1),
    recall_5: within(5),
    mrr: rounded(mrr / Math.max(1, some.length)),
  }
}

/** The score that keeps 95 % of the right first results. */
function cutOffOf(some: readonly Ranked[]): number {
  const scores = some
    .filter((request) => placeOf(request) === 1)
    .map(({ hits }) => hits[0]?.score ?? 0)
    .sort((a, b) => a - b)
  return rounded(scores[Math.floor(scores.length * 0.05)] ?? 0)
}

function shareOf<Item>(items: readonly Item[], test: (item: Item) => boolean): number {
  return rounded(items.filter(test).length / Math.max(1, items.length))
}

function rounded(number: number): number {
  return Number(number.toFixed(3))
}

function table(): string {
  const lines = rows.map(({ what, n, recall_1, recall_5, mrr }) =>
    [what.padEnd(16), n, recall_1, recall_5, mrr].map((cell) => String(cell).padStart(8)).join(''),
  )
  const facts = Object.entries(others).map(([name, value]) => `${name} ${value}`)
  const verdict = missed.length > 0 ? 'missed' : 'met'
  return [
    `${'what'.padEnd(16)}${['n', 'recall@1', 'recall@5', 'mrr'].map((head) => head.padStart(10)).join('')}`,
    ...lines,
    ...facts,
    `lexical recall@5 of ${LEXICAL_TARGET} in every language: ${verdict}`,
    '',
  ].join('\n')
}
