/**
 * What a write expects of the skill that is there: that there is one (`If-Match: *`), that there
 * is none (`If-None-Match: *`), or one of these entity tags, bare of their quotes.
 */
export type Precondition = 'exists' | 'absent' | { tags: readonly string[] }

export interface Tagged {
  revision: number
  digest: string
}

/** The entity tag of a skill's JSON: it changes with every write to the skill, not only its bytes. */
export const skillTag = ({ revision, digest }: Tagged): string =>
  `${digest.slice('sha256:'.length, 'sha256:'.length + 16)}.${revision}`

/** Whether a write may go on. The tag of the content is taken as well as that of the resource. */
export const meets = (precondition: Precondition, current: Tagged | undefined): boolean =>
  holds(precondition, current && [skillTag(current), current.digest])

/** The entity tag of what is set up by name. */
export const definitionTag = ({ revision }: Pick<Tagged, 'revision'>): string => `${revision}`

/** Whether a write may go on; `tags` are those of what is there, undefined when nothing is. */
export function holds(precondition: Precondition, tags: readonly string[] | undefined): boolean {
  if (precondition === 'absent') return tags === undefined
  if (tags === undefined) return false
  return precondition === 'exists' || tags.some((tag) => precondition.tags.includes(tag))
}
