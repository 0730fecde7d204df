import { type TSchema, Type } from 'typebox'
import { AppError } from '../errors.ts'

export const DEFAULT_LIMIT = 20

/** The query parameters of a list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: DEFAULT_LIMIT,
      description: 'Elements of a page',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'The next_cursor of the page before' })),
}

export const Page = <Item extends TSchema>(item: Item) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  })

/** Cuts a page from a list that was asked for one element more than it shows. */
export function toPage<Item>(
  list: string,
  found: readonly Item[],
  limit: number,
  keyOf: (item: Item) => string,
) {
  const data = found.slice(0, limit)
  const last = found.length > limit ? data.at(-1) : undefined
  return { data, next_cursor: last === undefined ? null : toCursor(list, keyOf(last)) }
}

const toCursor = (list: string, key: string): string =>
  Buffer.from(`${list}\n${key}`).toString('base64url')

/** The key that the page starts after. Only what `toPage` wrote for this list is a cursor. */
export function readCursor(
  list: string,
  cursor: string | undefined,
  pattern = /^.{1,200}$/u,
): string | undefined {
  if (cursor === undefined) return undefined
  const [kind, key = '', ...more] = Buffer.from(cursor, 'base64url').toString().split('\n')
  const ours = kind === list && more.length === 0 && pattern.test(key)
  if (ours && toCursor(list, key) === cursor) return key
  throw new AppError(
    'cursor_invalid',
    'The cursor is not one of this list: leave it out to begin anew.',
  )
}
