const WIDTH = 8
const DIGITS = new RegExp(`^[0-9a-z]{${WIDTH}}$`)

export type IdPrefix = 'skill' | 'skver' | 'conv' | 'turn' | 'key'

/** An id sorts as text like the sequence number that it is made from. */
export const toId = (prefix: IdPrefix, seq: number): string =>
  `${prefix}_${seq.toString(36).padStart(WIDTH, '0')}`

/** The number in an id; a malformed one gets 0, which no row has. */
export function toSeq(prefix: IdPrefix, id: string): number {
  const digits = id.slice(prefix.length + 1)
  return id.startsWith(`${prefix}_`) && DIGITS.test(digits) ? Number.parseInt(digits, 36) : 0
}
