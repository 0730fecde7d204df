import { renderCatalog } from '../../src/domain/catalog.ts'
import { estimateTokens } from '../../src/domain/tokens.ts'
import { wrapSkill } from '../../src/domain/wrapped-skill.ts'
import type { MadeSkill } from './made-skills.ts'

export type Count = (text: string) => number

export interface Row {
  id: string
  what: string
  old: string
  corrected: string
  target: string
  ours: string
  /** Null for a figure that has no target. */
  met: boolean | null
}

export type Shown = Omit<MadeSkill, 'tags' | 'digest'>

export interface Case {
  skills: Shown[]
  /** Whether its lines have the length of real ones, or the 100 tokens of the old reckoning. */
  real: boolean
  task: string
}

/** N1 to N4 and N6: ten skills, of which two are loaded at most. */
export function costRows({ skills, real, task }: Case, count: Count): Row[] {
  const lines = real ? 'real lines' : 'lines of 100'
  const either = (one: string, other: string): string => (real ? one : other)
  const line = catalog(skills, count)
  const all = bodies(skills, count)
  const sums = [0, 1, 2].map((used) => 10 * line + 9 * loads(skills.slice(0, used), count))
  const share = line / (line + count(task))
  const row = (id: string, what: string): Pick<Row, 'id' | 'what'> => ({
    id,
    what: `${what}, ${lines}`,
  })
  return [
    {
      ...row('N1', 'system prompt, 10 skills'),
      old: '20,000 → 1,000',
      corrected: either('→ about 400', '→ 1,000'),
      target: '≤ 1,000',
      ours: `${whole(all)} → ${whole(line)}`,
      met: line <= 1000,
    },
    {
      ...row('N2', '10 calls, 0 / 1 / 2 loads'),
      old: '200,000',
      corrected: either('4,000 / 22,000 / 40,000', '10,000 / 28,000 / 46,000'),
      target: '−95 / −86 / −77 %',
      ours: sums.map(whole).join(' / '),
      // Whole percents, as the targets are given.
      met: [95, 86, 77].every(
        (least, used) => Math.round(100 - (10 * (sums[used] ?? 0)) / all) >= least,
      ),
    },
    {
      ...row('N3', 'catalog beside a task of 3,000'),
      old: '87 % of the context',
      corrected: either('12 %', '25 %'),
      target: '≤ 25 %',
      ours: percent(share),
      met: share <= 0.25,
    },
    {
      ...row('N4', 'saved of the system prompt'),
      old: '95 %',
      corrected: either('98 %', '95 %'),
      target: '≥ 95 %',
      ours: percent(1 - line / all),
      met: line <= 0.05 * all,
    },
    ...roundRows(skills.slice(0, 8), real, count).map((figures) => ({
      ...row('N6', figures.what),
      old: figures.old,
      corrected: either(figures.real, figures.long),
      target: figures.least === null ? '–' : `≥ ${percent(figures.least)}`,
      ours: `${whole(figures.spent)} (${percent(figures.saved)})`,
      met: figures.least === null ? null : figures.saved >= figures.least,
    })),
  ]
}

/** Five calls, two of eight skills loaded in the first of them. */
function roundRows(skills: Shown[], real: boolean, count: Count) {
  const line = catalog(skills, count)
  const two = loads(skills.slice(0, 2), count)
  const all = bodies(skills, count)
  const billed = line + two + 0.1 * (line + 3 * (line + two))
  const saving = (spent: number, of: number) => ({ spent, saved: 1 - spent / of })
  return [
    {
      what: '8 skills, 2 calls against 5',
      old: '80,000 → 5,600 (93 %)',
      real: '→ 4,640 (94 %)',
      long: '→ 5,600 (93 %)',
      least: 0.93,
      ...saving(2 * line + two, 5 * all),
    },
    {
      what: '5 calls against 5',
      old: '–',
      real: '→ 17,600 (78 %)',
      long: '→ 20,000 (75 %)',
      // Eight lines of 100 tokens make 20,000 of 80,000, so that only shorter ones can pass 75 %.
      least: real ? 0.75 : null,
      ...saving(5 * line + 4 * two, 5 * all),
    },
    {
      what: 'new tokens of 5 calls',
      old: '–',
      real: '→ 5,600 (93 %)',
      long: '→ 8,000 (90 %)',
      least: null,
      ...saving(5 * line + two, 5 * all),
    },
    {
      what: 'bill, cache reads at 0.1',
      old: '–',
      real: '≥ 90 %',
      long: '≥ 90 %',
      least: 0.9,
      ...saving(billed, 5 * all),
    },
    {
      what: 'bill, inlined cached as well',
      old: '–',
      real: '–',
      long: '–',
      least: null,
      ...saving(billed, 1.4 * all),
    },
  ]
}

/**
 * N5: at most 100 tokens a skill by o200k. The ceiling is one by our own estimate (api.md 3), so it
 * is judged by that; what o200k makes of the same text stands beside it.
 */
export function ceilingRow(skills: Shown[], maxTokens: number, count: Count): Row {
  const text = render(skills, maxTokens)
  const least = Math.min(maxTokens, 100 * skills.length)
  return {
    id: 'N5',
    what: `catalog of ${whole(skills.length)}, ceiling ${whole(maxTokens)}`,
    old: `${whole(2000 * skills.length)} → ${whole(100 * skills.length)}`,
    corrected: `→ at most ${whole(least)}`,
    target: least < maxTokens ? `≤ ${whole(least)}` : `≤ ${whole(least)} by our estimate`,
    ours: `→ ${whole(count(text))}`,
    met: estimateTokens(text) <= maxTokens && count(text) <= 100 * skills.length,
  }
}

/** N7: of what the loads of the right skills put into the context, all but the wrappers is needed. */
export function relevanceRow(skills: Shown[], needed: Shown[], count: Count): Row {
  const share = bodies(needed, count) / loads(needed, count)
  return {
    id: 'N7',
    what: 'needed, of the skill text in the context',
    old: `${percent(bodies(needed, count) / bodies(skills, count))} when inlined`,
    corrected: '100 % but the tags',
    target: '≥ 99 %, choice right',
    ours: percent(share),
    met: share >= 0.99,
  }
}

export function realSkillsRow(skills: Shown[], count: Count): Row {
  const line = catalog(skills, count)
  const all = bodies(skills, count)
  return {
    id: 'N12',
    what: `our own ${skills.map(({ name }) => name).join(', ')}`,
    old: '4,115 → 230 (94.4 %)',
    corrected: '–',
    target: '≥ 94.4 %',
    ours: `${whole(all)} → ${whole(line)} (${percent(1 - line / all)})`,
    met: 1 - line / all >= 0.944,
  }
}

const render = (skills: Shown[], maxTokens: number | null): string =>
  renderCatalog(
    skills.map((skill) => ({ ...skill, tags: [], digest: '' })),
    { format: 'list', tags: false, maxTokens },
  ).text

const catalog = (skills: Shown[], count: Count): number => count(render(skills, null))
const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)
const bodies = (skills: Shown[], count: Count): number => sum(skills.map(({ body }) => count(body)))
const loads = (skills: Shown[], count: Count): number =>
  sum(skills.map((skill) => count(wrapSkill(skill))))

const whole = (number: number): string => Math.round(number).toLocaleString('en-US')
const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
