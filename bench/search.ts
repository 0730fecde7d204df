import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { queryPhrases } from '../src/domain/search-terms.ts'
import { openDatabase } from '../src/store/open.ts'
import { createSkillStore } from '../src/store/skill-store.ts'
import { type MadeSkill, storeMany } from '../test/store/store-many.ts'

/** A search through the store beside the bare FTS5 statement that finds the same, in one run. */
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    /** With 100,000 skills too. */
    full: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '20' },
  },
})

const LIMIT = 20
const QUERIES = 40
const TARGET = 2

let state = 20_260_101
/** From 0 to below 1, the same in every run. */
function chance(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

/** Few words are frequent and many are rare, as in any text. */
const pick = (words: readonly string[]): string =>
  words[Math.floor(words.length * chance() ** 3)] ?? ''

const many = (count: number, make: () => string): string[] => Array.from({ length: count }, make)

const SOUNDS = ['ba', 'co', 'di', 'fu', 'ga', 'le', 'mo', 'ni', 'pra', 'so', 'ter', 'vi']
const english = many(3000, () => many(2 + Math.floor(chance() * 3), () => pick(SOUNDS)).join(''))
const chinese = many(1500, () => String.fromCodePoint(0x4e00 + Math.floor(chance() * 6000)))

const sentence = {
  english: (length: number) => many(length, () => pick(english)).join(' '),
  chinese: (length: number) => many(length, () => pick(chinese)).join(''),
}
type Language = keyof typeof sentence
const LANGUAGES: Language[] = ['english', 'chinese']

const makeSkill = (index: number): MadeSkill => ({
  name: `${pick(english)}-${pick(english)}-${index}`,
  description: index % 2 === 0 ? `${sentence.english(30)}.` : `${sentence.chinese(80)}。`,
  tags: [pick(english)],
  body: '',
})

const sizes = options.quick ? [1000] : options.full ? [1000, 10_000, 100_000] : [1000, 10_000]
const rows: Awaited<ReturnType<typeof measure>> = []
for (const size of sizes) rows.push(...(await measure(size)))
process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : table())
process.exitCode = rows.some(({ ratio }) => ratio > TARGET) ? 1 : 0

async function measure(size: number) {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-bench-'))
  const path = join(folder, 'search.db')
  const db = await openDatabase(`sqlite:${path}`)
  const bare = new Database(path)
  try {
    await storeMany(
      db,
      Array.from({ length: size }, (_, index) => makeSkill(index)),
    )
    const skills = createSkillStore(db)
    const statement = bare.prepare(
      `select rowid, bm25(skill_search, 4.0, 1.0, 2.0) as score from skill_search
       where skill_search match ? order by score limit ${LIMIT}`,
    )
    const measured = []
    for (const language of LANGUAGES) {
      const queries = many(QUERIES, () => sentence[language](language === 'english' ? 4 : 6))
      const ours: number[] = []
      const base: number[] = []
      for (let round = 0; round <= Number(options.rounds); round++) {
        for (const query of queries) {
          const phrases = queryPhrases(query)
          const match = phrases.map((phrase) => `"${phrase.join(' ')}"`).join(' OR ')
          const bareTime = await timed(async () => statement.all(match))
          const ourTime = await timed(() =>
            skills.search({ phrases: queryPhrases(query), limit: LIMIT }),
          )
          // The first round warms both up.
          if (round > 0) {
            base.push(bareTime)
            ours.push(ourTime)
          }
        }
      }
      const [p50, p95] = [0.5, 0.95].map((share) => ({
        ours: quantile(ours, share),
        bare: quantile(base, share),
      }))
      if (!p50 || !p95) continue
      measured.push({
        skills: size,
        language,
        p50_ms: rounded(p50.ours),
        p50_bare_ms: rounded(p50.bare),
        p95_ms: rounded(p95.ours),
        p95_bare_ms: rounded(p95.bare),
        ratio: rounded(p95.ours / p95.bare),
        target: TARGET,
      })
    }
    return measured
  } finally {
    bare.close()
    await db.destroy()
    await rm(folder, { recursive: true })
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
}

function rounded(number: number): number {
  return Number(number.toFixed(2))
}

function table(): string {
  const heads = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => Object.values(row).map(String))
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...lines.map((line) => line[at]?.length ?? 0)),
  )
  return [heads, ...lines]
    .map((line) => `${line.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}\n`)
    .join('')
}
