import { type Kysely, sql } from 'kysely'
import { type IdPrefix, toId, toSeq } from './ids.ts'
import { isPostgres } from './search-index.ts'
import { countable } from './skill-reads.ts'
import type {
  RecordPage,
  SkillRecord,
  SkillRecordStore,
  VersionRecord,
  VersionReference,
} from './skill-records.ts'
import { shownSkills } from './skill-rows.ts'
import type { ShellTable, Tables } from './tables.ts'
import { inSnapshot } from './transaction.ts'

type Reads = Pick<
  SkillRecordStore,
  'findRecord' | 'records' | 'findVersionRecord' | 'versionRecords' | 'wasListed'
>

export function recordReads(db: Kysely<Tables>): Reads {
  return {
    findRecord: (id) => inSnapshot(db, (trx) => readRecord(trx, id)),

    records: ({ shells, ...page }) =>
      inSnapshot(db, async (trx) => {
        const skills = await selectRecords(trx)
          .$call(pageOf('skills.seq', 'skill', page))
          .execute()
        const found = skills.map(toRecord)
        if (!shells) return found
        const query = trx.selectFrom('skill_shells').selectAll()
        const empty = await query.$call(pageOf('skill_shells.seq', 'skill', page)).execute()
        const direction = page.order === 'asc' ? 1 : -1
        // An id sorts as the row does.
        return [...found, ...empty.map(shellRecord)]
          .sort((a, b) => (a.id < b.id ? -direction : direction))
          .slice(0, page.limit)
      }),

    async findVersionRecord(id, reference) {
      const row = await selectVersionRecords(db)
        .where('skill', '=', toSeq('skill', id))
        .$call(refersTo(reference))
        .executeTakeFirst()
      return row && toVersionRecord(row)
    },

    async versionRecords(id, page) {
      const rows = await selectVersionRecords(db)
        .where('skill', '=', toSeq('skill', id))
        .$call(pageOf('skill_versions.seq', 'skver', page))
        .execute()
      return rows.map(toVersionRecord)
    },

    async wasListed(id, skill) {
      const seq = toSeq(skill === undefined ? 'skill' : 'skver', id)
      if (seq === 0) return false
      if (skill === undefined) return seq <= (await lastGiven(db, 'skills'))
      const version = await db
        .selectFrom('skill_versions')
        .select('skill')
        .where('seq', '=', seq)
        .executeTakeFirst()
      if (version) return toId('skill', version.skill) === skill
      return seq <= (await lastGiven(db, 'skill_versions'))
    },
  }
}

/** Several queries: call it in a transaction. */
export async function readRecord(
  trx: Kysely<Tables>,
  id: string,
): Promise<SkillRecord | undefined> {
  const seq = toSeq('skill', id)
  const row = await selectRecords(trx).where('skills.seq', '=', seq).executeTakeFirst()
  if (row) return toRecord(row)
  const shell = await findShell(trx, id)
  return shell && shellRecord(shell)
}

export const findShell = (trx: Kysely<Tables>, id: string): Promise<ShellTable | undefined> =>
  trx
    .selectFrom('skill_shells')
    .selectAll()
    .where('seq', '=', toSeq('skill', id))
    .executeTakeFirst()

/** The newest version of a skill that has one. */
export const readNewest = async (trx: Kysely<Tables>, skill: number): Promise<VersionRecord> =>
  toVersionRecord(
    await selectVersionRecords(trx)
      .where('skill', '=', skill)
      .$call(refersTo('latest'))
      .executeTakeFirstOrThrow(),
  )

const selectRecords = (db: Kysely<Tables>) =>
  shownSkills(db)
    .innerJoin('skill_versions as newest', (join) =>
      join.on(({ eb, selectFrom }) =>
        eb(
          'newest.seq',
          '=',
          selectFrom('skill_versions')
            .select('skill_versions.seq')
            .whereRef('skill_versions.skill', '=', 'skills.seq')
            .orderBy('skill_versions.version', 'desc')
            .limit(1),
        ),
      ),
    )
    .select(['skills.seq', 'name', 'display_name', 'created_at', 'updated_at'])
    .select(['shown.title', 'shown.description', 'shown.version as shown_version'])
    .select(['newest.seq as newest_seq', 'newest.version as newest_version', 'newest.epoch'])

const selectVersionRecords = (db: Kysely<Tables>) =>
  db
    .selectFrom('skill_versions')
    .innerJoin('skills', 'skills.seq', 'skill_versions.skill')
    .select(['skill_versions.seq', 'skill', 'version', 'epoch', 'name', 'description'])
    .select('written_at')

type VersionQuery = ReturnType<typeof selectVersionRecords>

const refersTo =
  (reference: VersionReference) =>
  (query: VersionQuery): VersionQuery => {
    if (reference === 'latest') return query.orderBy('version', 'desc').limit(1)
    if ('id' in reference) {
      return query.where('skill_versions.seq', '=', toSeq('skver', reference.id))
    }
    if ('epoch' in reference) return query.where('epoch', '=', countable(reference.epoch))
    return query.where('version', '=', countable(reference.version))
  }

interface Pageable<Query> {
  where(expression: ReturnType<typeof sql<boolean>>): Query
  orderBy(expression: ReturnType<typeof sql<number>>, order: 'asc' | 'desc'): Query
  limit(limit: number): Query
}

const pageOf =
  (column: string, prefix: IdPrefix, { order, after, limit }: RecordPage) =>
  <Query extends Pageable<Query>>(query: Query): Query => {
    const seq = sql.ref<number>(column)
    const from = after === undefined ? undefined : toSeq(prefix, after)
    const placed =
      from === undefined
        ? query
        : query.where(order === 'asc' ? sql<boolean>`${seq} > ${from}` : sql`${seq} < ${from}`)
    return placed.orderBy(sql<number>`${seq}`, order).limit(limit)
  }

/** The highest number that a row of the table ever had, also of one that is gone. */
async function lastGiven(db: Kysely<Tables>, table: 'skills' | 'skill_versions'): Promise<number> {
  const last = isPostgres(db)
    ? sql<{ seq: number | null }>`
        select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass) as seq`
    : sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`
  const { rows } = await last.execute(db)
  return rows[0]?.seq ?? 0
}

type RecordRow = Awaited<ReturnType<ReturnType<typeof selectRecords>['executeTakeFirstOrThrow']>>
type VersionRow = Awaited<ReturnType<VersionQuery['executeTakeFirstOrThrow']>>

const toRecord = (row: RecordRow): SkillRecord => ({
  id: toId('skill', row.seq),
  name: row.name,
  title: row.display_name ?? row.title,
  shown: { version: row.shown_version, description: row.description },
  newest: { id: toId('skver', row.newest_seq), version: row.newest_version, epoch: row.epoch },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const shellRecord = (row: ShellTable): SkillRecord => ({
  id: toId('skill', row.seq),
  name: row.name,
  title: row.display_name,
  shown: null,
  newest: null,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toVersionRecord = (row: VersionRow): VersionRecord => ({
  id: toId('skver', row.seq),
  skill: toId('skill', row.skill),
  version: row.version,
  epoch: row.epoch,
  name: row.name,
  description: row.description,
  at: row.written_at,
})
