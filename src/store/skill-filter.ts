import { type Expression, expressionBuilder, type SqlBool } from 'kysely'
import type { SkillFilter } from './skills.ts'
import type { Tables } from './tables.ts'
import { comparable } from './transaction.ts'

/** A condition on rows of `skills`. */
export function meetsFilter(filter: SkillFilter): Expression<SqlBool> {
  const { names, tags = [], tool, enabled, source, callable } = filter
  const eb = expressionBuilder<Tables, 'skills'>()
  const conditions: Expression<SqlBool>[] = tags.map((tag) =>
    eb.exists(
      eb
        .selectFrom('skill_tags')
        .select('skill_tags.version')
        .whereRef('skill_tags.version', '=', 'skills.shown')
        .where('tag', '=', comparable(tag.toLowerCase())),
    ),
  )
  if (tool !== undefined) {
    const listed = eb
      .selectFrom('skill_tools')
      .select('skill_tools.version')
      .whereRef('skill_tools.version', '=', 'skills.shown')
      .where('tool', '=', comparable(tool))
    conditions.push(eb.exists(listed))
  }
  // PostgreSQL takes no empty list, and no skill has an empty name.
  if (names) conditions.push(eb('skills.name', 'in', ['', ...names.map(comparable)]))
  if (enabled !== undefined) conditions.push(eb('skills.enabled', '=', enabled ? 1 : 0))
  if (source !== undefined) conditions.push(eb('skills.source', '=', source))
  if (callable) {
    const hidden = eb
      .selectFrom('skill_versions')
      .select('skill_versions.seq')
      .whereRef('skill_versions.seq', '=', 'skills.shown')
      .where('hidden', '=', 1)
    conditions.push(eb('skills.enabled', '=', 1), eb('skills.current_version', 'is not', null))
    conditions.push(eb.not(eb.exists(hidden)))
  }
  return eb.and(conditions)
}
