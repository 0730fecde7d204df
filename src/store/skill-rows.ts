import { type Kysely, type Selectable, sql } from 'kysely'
import type { CatalogEntry } from '../domain/catalog-entry.ts'
import { toId } from './ids.ts'
import { prepared } from './prepared.ts'
import type { FileEntry, SkillSummary, Source, VersionSummary } from './skills.ts'
import type { SkillTable, Tables, VersionTable } from './tables.ts'

const CONTENT = [
  'digest',
  'title',
  'description',
  'declared_version',
  'tags',
  'allowed_tools',
  'license',
  'compatibility',
  'metadata',
  'extra',
  'hidden',
  'size',
  'catalog_tokens',
  'body_tokens',
  'warnings',
] as const satisfies (keyof VersionTable)[]

type ContentRow = Pick<Selectable<VersionTable>, (typeof CONTENT)[number]>
type StateRow = Selectable<SkillTable>
type WritingRow = Pick<Selectable<VersionTable>, 'version' | 'note' | 'written_by' | 'written_at'>

/** Skills, each with the row of the version that it shows: its current one, else its latest. */
export const shownSkills = (db: Kysely<Tables>) =>
  db.selectFrom('skills').innerJoin('skill_versions as shown', 'shown.seq', 'skills.shown')

export const selectSkills = (db: Kysely<Tables>) =>
  shownSkills(db)
    .selectAll('skills')
    .select(['shown.seq as shown_seq', ...CONTENT.map((column) => `shown.${column}` as const)])

export const selectVersions = (db: Kysely<Tables>) =>
  db
    .selectFrom('skill_versions')
    .innerJoin('skills', 'skills.seq', 'skill_versions.skill')
    .select([
      'skills.name',
      'skill_versions.seq',
      'skill_versions.version',
      'note',
      'written_by',
      'written_at',
      ...CONTENT,
    ])

/** A column `file_count`; `version` is the column of the outer query that it counts for. */
export const fileCount = (db: Kysely<Tables>, version: 'shown.seq' | 'skill_versions.seq') =>
  db
    .selectFrom('skill_files')
    .where('skill_files.version', '=', sql.ref<number>(version))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .$asScalar()
    .$notNull()
    .as('file_count')

const filesOfVersion = prepared<{ version: number }, FileEntry>((db, parameter) =>
  db
    .selectFrom('skill_files')
    .select(['path', 'sha256', 'size', 'media_type as mediaType'])
    .where('version', '=', parameter('version'))
    .orderBy('path'),
)

export const filesOf = async (db: Kysely<Tables>, versionSeq: number): Promise<FileEntry[]> =>
  (await filesOfVersion(db, { version: versionSeq })).rows

export const toSkill = (row: StateRow & ContentRow): Omit<SkillSummary, 'fileCount'> => ({
  ...contentOf(row),
  id: toId('skill', row.seq),
  name: row.name,
  title: row.display_name ?? row.title,
  version: row.current_version,
  latestVersion: row.latest_version,
  enabled: row.enabled === 1,
  source: sourceOf(row),
  revision: row.revision,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const toVersion = (
  row: WritingRow & ContentRow & { name: string; seq: number },
): Omit<VersionSummary, 'fileCount'> => ({
  ...contentOf(row),
  id: toId('skver', row.seq),
  name: row.name,
  version: row.version,
  note: row.note,
  by: row.written_by,
  at: row.written_at,
})

type EntryRow = Pick<StateRow, 'name' | 'enabled'> &
  Pick<WritingRow, 'version'> &
  Pick<
    ContentRow,
    | 'description'
    | 'tags'
    | 'allowed_tools'
    | 'hidden'
    | 'digest'
    | 'catalog_tokens'
    | 'body_tokens'
  >

export const toEntry = (row: EntryRow): CatalogEntry => ({
  name: row.name,
  description: row.description,
  tags: JSON.parse(row.tags),
  allowedTools: toolsOf(row),
  hidden: row.hidden === 1,
  enabled: row.enabled === 1,
  version: row.version,
  digest: row.digest,
  tokens: { catalog: row.catalog_tokens, body: row.body_tokens },
})

const contentOf = (row: ContentRow) => ({
  digest: row.digest,
  title: row.title,
  description: row.description,
  declaredVersion: row.declared_version,
  tags: JSON.parse(row.tags),
  allowedTools: toolsOf(row),
  license: row.license,
  compatibility: row.compatibility,
  metadata: JSON.parse(row.metadata),
  extra: JSON.parse(row.extra),
  hidden: row.hidden === 1,
  size: row.size,
  tokens: { catalog: row.catalog_tokens, body: row.body_tokens },
  warnings: JSON.parse(row.warnings),
})

const toolsOf = ({ allowed_tools }: Pick<ContentRow, 'allowed_tools'>): string[] | null =>
  allowed_tools === null ? null : JSON.parse(allowed_tools)

export function sourceOf({ source, folder, withdrawn }: StateRow): Source {
  if (source === 'api' || folder === null) return { type: 'api' }
  return { type: 'directory', folder, ...(withdrawn === 1 && { withdrawn: true }) }
}

export const sourceColumns = (source: Source) => ({
  source: source.type,
  folder: source.type === 'directory' ? source.folder : null,
  withdrawn: source.type === 'directory' && source.withdrawn ? (1 as const) : (0 as const),
})
