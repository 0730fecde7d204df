import { Type } from 'typebox'
import { AppError } from '../../errors.ts'
import { DEFAULT_LIMIT } from '../../http/page.ts'
import type { RecordPage, SkillRecord, VersionRecord } from '../../store/skill-records.ts'

export const toSkill = ({ id, name, shown, newest, createdAt }: SkillRecord) => ({
  id,
  object: 'skill',
  name,
  description: shown?.description ?? '',
  created_at: toSeconds(createdAt),
  default_version: shown && `${shown.version}`,
  latest_version: newest && `${newest.version}`,
})

export const toVersion = ({ id, skill, version, name, description, at }: VersionRecord) => ({
  id,
  object: 'skill.version',
  skill_id: skill,
  version: `${version}`,
  name,
  description,
  created_at: toSeconds(at),
})

const toSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

export const pageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
  after: Type.Optional(Type.String()),
})

interface PageQuery {
  limit?: number
  order?: 'asc' | 'desc'
  after?: string
}

/** A page of a list; `wasListed` tells whether an id can be one of the page before. */
export async function readPage<Row extends { id: string }>(
  { limit = DEFAULT_LIMIT, order = 'desc', after }: PageQuery,
  wasListed: (id: string) => Promise<boolean>,
  read: (page: RecordPage) => Promise<Row[]>,
  toResource: (row: Row) => object,
) {
  if (after !== undefined && !(await wasListed(after))) {
    const message = `"after" names nothing in this list: ${after.slice(0, 64)}`
    const errors = [{ code: 'query_invalid', message, field: '/after' }]
    throw new AppError('query_invalid', message, { errors })
  }
  const found = limit === 0 ? [] : await read({ order, after, limit: limit + 1 })
  const rows = found.slice(0, limit)
  return {
    object: 'list',
    data: rows.map(toResource),
    first_id: rows[0]?.id ?? null,
    last_id: rows.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}
