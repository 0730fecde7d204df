import type { Kysely } from 'kysely'
import { AppError } from '../errors.ts'
import { type Parameters, prepared } from './prepared.ts'
import { meetsFilter } from './skill-filter.ts'
import {
  fileCount,
  filesOf,
  selectSkills,
  selectVersions,
  shownSkills,
  toEntry,
  toSkill,
  toVersion,
} from './skill-rows.ts'
import type { SkillPage, SkillStore, StoredSkill } from './skills.ts'
import type { Tables } from './tables.ts'
import { comparable, inSnapshot } from './transaction.ts'

type Reads = Pick<
  SkillStore,
  'revision' | 'catalog' | 'find' | 'list' | 'findVersion' | 'versions' | 'readFile'
>

export function skillReads(db: Kysely<Tables>): Reads {
  return {
    revision: () => readRevision(db),

    catalog: () =>
      inSnapshot(db, async (trx) => {
        const revision = await readRevision(trx)
        const rows = await trx
          .selectFrom('skills')
          .innerJoin('skill_versions', (join) =>
            join
              .onRef('skill_versions.skill', '=', 'skills.seq')
              .onRef('skill_versions.version', '=', 'skills.current_version'),
          )
          .select(['name', 'enabled', 'version', 'digest', 'description', 'tags'])
          .select(['allowed_tools', 'hidden', 'catalog_tokens', 'body_tokens'])
          .orderBy('name')
          .execute()
        return { revision, entries: rows.map(toEntry) }
      }),

    find: (name) => inSnapshot(db, (trx) => readSkill(trx, name)),

    async list(page) {
      const rows = await pageOf(db, page).execute()
      return rows.map((row) => ({ ...toSkill(row), fileCount: row.file_count }))
    },

    findVersion: (name, version) =>
      inSnapshot(db, async (trx) => {
        const row = await selectVersions(trx)
          .select('body')
          .where('name', '=', comparable(name))
          .where('version', '=', countable(version))
          .executeTakeFirst()
        return row && { ...toVersion(row), body: row.body, files: await filesOf(trx, row.seq) }
      }),

    async versions(name, { before, limit }) {
      let query = selectVersions(db).where('name', '=', comparable(name))
      if (before !== undefined) query = query.where('version', '<', before)
      const rows = await query
        .select(fileCount(db, 'skill_versions.seq'))
        .orderBy('version', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...toVersion(row), fileCount: row.file_count }))
    },

    readFile(name, path, version) {
      const versions =
        version === undefined
          ? shownSkills(db)
          : db
              .selectFrom('skills')
              .innerJoin('skill_versions as shown', 'shown.skill', 'skills.seq')
              .where('shown.version', '=', countable(version))
      return versions
        .innerJoin('skill_files', 'skill_files.version', 'shown.seq')
        .innerJoin('blobs', 'blobs.sha256', 'skill_files.sha256')
        .select(['path', 'blobs.sha256', 'skill_files.size', 'media_type as mediaType'])
        .select(['bytes', 'digest'])
        .where('name', '=', comparable(name))
        .where('path', '=', comparable(path))
        .executeTakeFirst()
    },
  }
}

const registryRevision = prepared<object, { revision: number }>((db) =>
  db.selectFrom('registry').select('revision'),
)

async function readRevision(db: Kysely<Tables>): Promise<number> {
  const [row] = (await registryRevision(db, {})).rows
  if (!row) throw new Error('the registry has no revision')
  return row.revision
}

const skillNamed = prepared((db, parameter: Parameters<{ name: string }>) =>
  selectSkills(db).select('body').where('name', '=', parameter('name')),
)

/** Several queries: call it in a transaction. */
export async function readSkill(
  trx: Kysely<Tables>,
  name: string,
): Promise<StoredSkill | undefined> {
  const [row] = (await skillNamed(trx, { name: comparable(name) })).rows
  return row && { ...toSkill(row), body: row.body, files: await filesOf(trx, row.shown_seq) }
}

function pageOf(db: Kysely<Tables>, { sort, after, limit, ...filter }: SkillPage) {
  let query = selectSkills(db).select(fileCount(db, 'shown.seq')).where(meetsFilter(filter))
  query = sort === 'name' ? query.orderBy('name') : query.orderBy('revision', 'desc')
  if (after !== undefined) {
    query =
      sort === 'name'
        ? query.where('name', '>', comparable(after))
        : query.where('revision', '<', revisionAfter(after))
  }
  return query.limit(limit)
}

export function revisionAfter(after: string): number {
  if (!/^\d{1,15}$/.test(after)) throw new AppError('cursor_invalid', 'The cursor is not valid.')
  return Number(after)
}

/** A number that PostgreSQL can compare; 0 is no version. */
export const countable = (version: number): number => (Number.isSafeInteger(version) ? version : 0)
