import { type Static, type TSchema, Type } from 'typebox'
import { Skill } from '../domain/skill.ts'
import { Fault } from '../errors.ts'
import type { Checked } from '../registry/checked.ts'
import type {
  FileEntry,
  SkillSummary,
  Source,
  StoredSkill,
  Version,
  VersionSummary,
} from '../store/skills.ts'

const { properties } = Skill
const Time = Type.String({ format: 'date-time' })
const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** What a version says, and the facts of its files. */
const contents = {
  name: properties.name,
  title: properties.title,
  description: properties.description,
  declared_version: properties.declaredVersion,
  tags: properties.tags,
  allowed_tools: properties.allowedTools,
  license: properties.license,
  compatibility: properties.compatibility,
  metadata: properties.metadata,
  extra: properties.extra,
  digest: Type.String({ description: 'sha256:… of SKILL.md, or of the manifest of a bundle' }),
  size: Type.Integer({ description: 'Bytes of all files' }),
  file_count: Type.Integer({ description: 'Files besides SKILL.md' }),
  tokens: Type.Object({ catalog: Type.Integer(), body: Type.Integer() }),
  warnings: Type.Array(Fault),
}

const File = Type.Object({
  path: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
  media_type: Type.String(),
})

export const FileList = Type.Object({ data: Type.Array(File) })

const whole = { body: properties.body, files: Type.Array(File) }

const identity = { id: Type.String() }

const state = {
  version: Nullable(Type.Integer({ description: 'The current one; null while there is none' })),
  latest_version: Type.Integer(),
  enabled: Type.Boolean(),
  source: Type.Union([
    Type.Object({ type: Type.Literal('api') }),
    Type.Object({ type: Type.Literal('directory'), folder: Type.String() }),
  ]),
  created_at: Time,
  updated_at: Time,
}

const SkillSummaryResource = Type.Object({ ...identity, ...contents, ...state })
export const SkillHitResource = Type.Object({
  ...SkillSummaryResource.properties,
  score: Type.Optional(
    Type.Number({ description: 'Of hits: the higher the better, within one search' }),
  ),
})
export const SkillResource = Type.Object({ ...identity, ...contents, ...state, ...whole })
export const WrittenSkill = Type.Object({
  ...SkillSummaryResource.properties,
  skipped: Type.Array(Type.String(), { description: 'Files that were left out' }),
})

const record = {
  version: Type.Integer(),
  note: Nullable(Type.String()),
  by: Nullable(Type.String({ description: 'The id of the key that wrote it' })),
  created_at: Time,
}
export const VersionSummaryResource = Type.Object({ ...identity, ...contents, ...record })
export const VersionResource = Type.Object({ ...identity, ...contents, ...record, ...whole })

export const CheckResource = Type.Object({
  valid: Type.Boolean(),
  errors: Type.Array(Fault),
  warnings: Type.Array(Fault),
  skill: Nullable(Type.Object({ ...contents, ...whole })),
})

type Contents = Omit<VersionSummary, 'id' | 'fileCount' | 'size' | 'version' | 'note' | 'by' | 'at'>

const toContents = (skill: Contents, fileCount: number, size: number) => ({
  name: skill.name,
  title: skill.title,
  description: skill.description,
  declared_version: skill.declaredVersion,
  tags: skill.tags,
  allowed_tools: skill.allowedTools,
  license: skill.license,
  compatibility: skill.compatibility,
  metadata: skill.metadata,
  extra: skill.extra,
  digest: skill.digest,
  size,
  file_count: fileCount,
  tokens: skill.tokens,
  warnings: skill.warnings,
})

const toWhole = ({ body, files }: { body: string; files: readonly FileEntry[] }) => ({
  body,
  files: toFileResources(files),
})

/** SKILL.md is not among them. */
export const toFileResources = (files: readonly FileEntry[]): Static<typeof File>[] =>
  besides(files).map(({ path, size, sha256, mediaType }) => ({
    path,
    size,
    sha256,
    media_type: mediaType,
  }))

const besides = (files: readonly FileEntry[]) => files.filter(({ path }) => path !== 'SKILL.md')

const toSource = (source: Source): Static<typeof state.source> =>
  source.type === 'directory' ? { type: source.type, folder: source.folder } : { type: source.type }

const toState = (skill: Omit<SkillSummary, 'fileCount'>) => ({
  version: skill.version,
  latest_version: skill.latestVersion,
  enabled: skill.enabled,
  source: toSource(skill.source),
  created_at: skill.createdAt,
  updated_at: skill.updatedAt,
})

/** The one place where a stored skill gets its names on the wire. */
const toSkillSummary = (skill: SkillSummary): Static<typeof SkillSummaryResource> => ({
  id: skill.id,
  ...toContents(skill, skill.fileCount - 1, skill.size),
  ...toState(skill),
})

export const toSkillHit = (
  skill: SkillSummary & { score?: number },
): Static<typeof SkillHitResource> => ({
  ...toSkillSummary(skill),
  ...(skill.score !== undefined && { score: skill.score }),
})

export const toSkillResource = (skill: StoredSkill): Static<typeof SkillResource> => ({
  id: skill.id,
  ...toContents(skill, besides(skill.files).length, skill.size),
  ...toState(skill),
  ...toWhole(skill),
})

export const toWrittenSkill = (
  skill: StoredSkill,
  skipped: string[] = [],
): Static<typeof WrittenSkill> => {
  const { body, files, ...summary } = skill
  return { ...toSkillSummary({ ...summary, fileCount: files.length }), skipped }
}

export const toVersionSummary = (
  version: VersionSummary,
): Static<typeof VersionSummaryResource> => ({
  id: version.id,
  ...toContents(version, version.fileCount - 1, version.size),
  ...toRecord(version),
})

export const toVersionResource = (version: Version): Static<typeof VersionResource> => ({
  id: version.id,
  ...toContents(version, besides(version.files).length, version.size),
  ...toRecord(version),
  ...toWhole(version),
})

const toRecord = ({ version, note, by, at }: Pick<Version, 'version' | 'note' | 'by' | 'at'>) => ({
  version,
  note,
  by,
  created_at: at,
})

export function toCheckResource(checked: Checked): Static<typeof CheckResource> {
  const { skill } = checked
  const size = skill?.files.reduce((sum, file) => sum + file.size, 0) ?? 0
  return {
    ...checked,
    skill: skill && {
      ...toContents(skill, besides(skill.files).length, size),
      ...toWhole(skill),
    },
  }
}
