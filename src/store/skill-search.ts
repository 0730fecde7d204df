import {
  type Expression,
  type InferResult,
  type Kysely,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { AppError } from '../errors.ts'
import { isPostgres } from './search-index.ts'
import { meetsFilter } from './skill-filter.ts'
import { revisionAfter } from './skill-reads.ts'
import { fileCount, selectSkills, toSkill } from './skill-rows.ts'
import type { SkillSearch, SkillStore } from './skills.ts'
import type { Tables } from './tables.ts'
import { comparable } from './transaction.ts'

type Searches = Pick<SkillStore, 'search' | 'rank'>

export function skillSearches(db: Kysely<Tables>): Searches {
  // Compiled once: to build it takes longer than a search among a thousand skills.
  const summaries = selectSkills(db).select(fileCount(db, 'shown.seq'))
  const all = sql.raw(summaries.compile().sql)

  return {
    async search(search) {
      if (search.phrases.length === 0) return []
      const { rows } = await sql<InferResult<typeof summaries>[number] & Hit>`
        select skills.*, page.score
        from (${pageOf(db, search)}) as page inner join (${all}) as skills on skills.seq = page.seq
        order by ${orderOf(search)}`.execute(db)
      return rows.map((row) => ({ ...toSkill(row), fileCount: row.file_count, score: row.score }))
    },

    async rank(search) {
      if (search.phrases.length === 0) return []
      const page = pageOf(db, { ...search, sort: 'relevance' })
      const { rows } = await page.execute(db)
      return rows.map(({ name }) => name)
    },
  }
}

interface Hit {
  seq: number
  score: number
}

/**
 * Which skills stand on the page, without what makes their rows wide. SQLite looks into a limit
 * that is a bare parameter, and plans the statement anew at every call for that: hence the sum.
 */
function pageOf(db: Kysely<Tables>, search: SkillSearch): RawBuilder<Hit & { name: string }> {
  const found = (isPostgres(db) ? foundByPostgres : foundBySqlite)(search.phrases)
  return sql`
    with page as materialized (${found})
    select skills.seq, skills.name, page.score
    from page inner join skills on skills.seq = page.seq
    where ${conditionOf(search)} and ${isBehind(search)}
    order by ${orderOf(search)}
    limit ${search.limit} + 0`
}

const orderOf = ({ sort }: SkillSearch): RawBuilder<unknown> =>
  sql.raw(
    sort === 'name'
      ? 'skills.name'
      : sort === '-updated_at'
        ? 'skills.revision desc'
        : 'page.score desc, skills.name',
  )

function conditionOf({ phrases: _, sort, after, limit, ...filter }: SkillSearch) {
  if (Object.values(filter).some((value) => value !== undefined)) return meetsFilter(filter)
  if (after !== undefined || (sort !== undefined && sort !== 'relevance')) return ALWAYS
  // Nothing else drops a hit: those that score too little need no look at their names.
  return sql<SqlBool>`page.score >= coalesce(
    (select score from page order by score desc limit 1 offset ${limit - 1}), ${LOWEST}
  )`
}

const ALWAYS = sql<SqlBool>`1 = 1`
const LOWEST = -1e9

function isBehind({ sort, after }: SkillSearch): Expression<SqlBool> {
  if (after === undefined) return ALWAYS
  if (sort === 'name') return sql`skills.name > ${comparable(after)}`
  if (sort === '-updated_at') return sql`skills.revision < ${revisionAfter(after)}`
  const [score, names] = placeOf(after)
  // A write moves all scores a little: a hit that is still there tells where it stands now.
  const place = (column: 'page.score' | 'skills.name', otherwise: unknown) => sql`coalesce(
    (select ${sql.ref(column)} from page inner join skills on skills.seq = page.seq
      where skills.name in (${sql.join(names)})
      order by case ${sql.join(
        names.map((name, at) => sql`when skills.name = ${name} then ${sql.lit(at)}`),
        sql` `,
      )} end
      limit 1),
    ${otherwise}
  )`
  const placeScore = place('page.score', score)
  return sql`(
    page.score < ${placeScore}
    or (page.score = ${placeScore} and skills.name > ${place('skills.name', names[0])})
  )`
}

function placeOf(after: string): [score: number, names: string[]] {
  const [score = '', ...names] = after.split(' ')
  const valid = score !== '' && Number.isFinite(Number(score))
  if (valid && names.length > 0) return [Number(score), names.slice(0, 3).map(comparable)]
  throw new AppError('cursor_invalid', 'The cursor is not valid.')
}

/** BM25; a name tells more than a tag, and a tag more than a description. */
function foundBySqlite(phrases: SkillSearch['phrases']): RawBuilder<Hit> {
  const match = phrases.map((phrase) => `"${phrase.join(' ')}"`).join(' OR ')
  return sql`select rowid as seq, -bm25(skill_search, 4.0, 1.0, 2.0) as score
    from skill_search where skill_search match ${match}`
}

/** BM25 from its parts, with fields that hold a phrase or do not. */
function foundByPostgres(phrases: SkillSearch['phrases']): RawBuilder<Hit> {
  const queries = (label: string) =>
    phrases.map((phrase) => phrase.map((term) => `'${term}'${label}`).join(' <-> '))
  return sql`
    select seq, round(sum(
      ln(1 + (total - hits + 0.5) / (hits + 0.5))
      * held * 2.2 / (held + 1.2 * (0.25 + 0.75 * length / mean))
    )::numeric, 6)::float8 as score
    from (
      select skill as seq, length, count(*) over (partition by place) as hits,
        4 * (terms @@ in_name::tsquery)::int + 2 * (terms @@ in_tags::tsquery)::int
        + (terms @@ in_description::tsquery)::int as held
      from unnest(
        ${queries('')}::text[], ${queries(':A')}::text[], ${queries(':B')}::text[],
        ${queries(':C')}::text[]
      ) with ordinality as asked (anywhere, in_name, in_tags, in_description, place)
      inner join skill_search on terms @@ anywhere::tsquery
    ) as found,
    (select count(*) as total, greatest(avg(length), 1) as mean from skill_search) as everything
    group by seq`
}
