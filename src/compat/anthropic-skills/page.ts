import { Type } from 'typebox'
import { DEFAULT_LIMIT, readCursor, toPage } from '../../http/page.ts'
import type { RecordPage } from '../../store/skill-records.ts'

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  page: Type.Optional(Type.String()),
}

interface PageQuery {
  limit?: number
  page?: string
}

const PLACE = /^[a-z]+_[0-9a-z]+$/

/** A page of a list, newest first; `list` names the list that its cursors belong to. */
export async function readPage<Row extends { id: string }>(
  list: string,
  { limit = DEFAULT_LIMIT, page }: PageQuery,
  read: (page: RecordPage) => Promise<Row[]>,
  toResource: (row: Row) => object,
) {
  const after = readCursor(list, page, PLACE)
  const found = await read({ order: 'desc', after, limit: limit + 1 })
  const { data, next_cursor } = toPage(list, found, limit, ({ id }) => id)
  return { data: data.map(toResource), has_more: next_cursor !== null, next_page: next_cursor }
}
