import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { searchTerms } from '../domain/search-terms.ts'
import { shownSkills } from './skill-rows.ts'
import type { Tables } from './tables.ts'

export const isPostgres = (db: Kysely<Tables>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter

interface Indexed {
  seq: number
  name: string
  description: string
  /** As JSON. */
  tags: string
}

const indexed = (db: Kysely<Tables>) =>
  shownSkills(db).select(['skills.seq', 'name', 'shown.description', 'shown.tags'])

/** Makes a skill findable by what its shown version says now. */
export async function indexSkill(trx: Kysely<Tables>, seq: number): Promise<void> {
  const row = await indexed(trx).where('skills.seq', '=', seq).executeTakeFirst()
  if (row) await write(trx, row)
}

const BATCH = 1000

/** Every skill anew. */
export async function indexAll(trx: Kysely<Tables>): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await indexed(trx)
      .where('skills.seq', '>', after)
      .orderBy('skills.seq')
      .limit(BATCH)
      .execute()
    for (const row of rows) await write(trx, row)
    const last = rows.at(-1)
    if (!last) return
    after = last.seq
  }
}

async function write(trx: Kysely<Tables>, row: Indexed): Promise<void> {
  const { seq } = row
  const fields = fieldsOf(row)
  if (isPostgres(trx)) {
    const length = fields.reduce((sum, { terms }) => sum + terms.length, 0)
    await sql`insert into skill_search (skill, length, terms)
      values (${seq}, ${length}, ${vectorOf(fields)}::tsvector)
      on conflict (skill) do update set length = excluded.length, terms = excluded.terms`.execute(
      trx,
    )
    return
  }
  const [name, description, tags] = fields.map(({ terms }) => terms.join(' '))
  await sql`insert or replace into skill_search (rowid, name, description, tags)
    values (${seq}, ${name}, ${description}, ${tags})`.execute(trx)
}

/** A text of a megabyte is no description; and PostgreSQL counts no further than 16,383. */
const MAX_TERMS = { name: 100, tags: 1000, description: 10_000 }

interface Field {
  weight: 'A' | 'B' | 'C'
  terms: string[]
}

function fieldsOf({ name, description, tags }: Indexed): Field[] {
  const tagList: string[] = JSON.parse(tags)
  return [
    { weight: 'A', terms: searchTerms(name).slice(0, MAX_TERMS.name) },
    { weight: 'C', terms: searchTerms(description).slice(0, MAX_TERMS.description) },
    { weight: 'B', terms: searchTerms(tagList.join('\n')).slice(0, MAX_TERMS.tags) },
  ]
}

/** No phrase reaches from one field into the next. */
const GAP = 2

/** PostgreSQL's own notation: each term with its positions, and the weight of its field. */
function vectorOf(fields: readonly Field[]): string {
  const places = new Map<string, string[]>()
  let position = 1
  for (const { weight, terms } of fields) {
    for (const term of terms) {
      const known = places.get(term)
      const place = `${position++}${weight}`
      if (known) known.push(place)
      else places.set(term, [place])
    }
    position += GAP
  }
  return Array.from(places, ([term, at]) => `'${term}':${at.join()}`).join(' ')
}
