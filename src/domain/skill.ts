import { type Static, Type } from 'typebox'

/** The naming rule of Agent Skills: lower case, digits, single hyphens, at most 64. */
export const NAME_PATTERN = '^[a-z0-9]+(-[a-z0-9]+)*$'
const SkillName = Type.String({ maxLength: 64, pattern: NAME_PATTERN })

export const MAX_DESCRIPTION = 1024
export const MAX_COMPATIBILITY = 500

const Text = Type.Union([Type.String(), Type.Null()])
const Mapping = Type.Record(Type.String(), Type.Unknown())

/** What a SKILL.md says, read. Every key of its frontmatter is in a field, `metadata` or `extra`. */
export type Skill = Static<typeof Skill>
export const Skill = Type.Object({
  name: SkillName,
  /** The name as its author wrote it, where it had to be turned into a slug. */
  title: Text,
  /** Trimmed, not folded. Longer than 1,024 code points only when read leniently. */
  description: Type.String({ minLength: 1 }),
  /** `version`, else `metadata.version`, as written. */
  declaredVersion: Text,
  tags: Type.Array(Type.String()),
  /** Null when the file does not say, empty when it allows none. */
  allowedTools: Type.Union([Type.Array(Type.String()), Type.Null()]),
  license: Text,
  compatibility: Text,
  metadata: Mapping,
  /** Every other key, nested as it stands, scalars as written. */
  extra: Mapping,
  /** `disable-model-invocation: true` (it stands in `extra` as well): in no catalog. */
  hidden: Type.Boolean(),
  /** With LF, without the frontmatter and the blank lines behind it. */
  body: Type.String(),
})

/** A file of a bundle, by its path inside; SKILL.md is one of them. */
export interface BundleFile {
  path: string
  bytes: Uint8Array
}
