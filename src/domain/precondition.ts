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
export function meets(precondition: Precondition, current: Tagged | undefined): boolean {
  if (precondition === 'absent') return current === undefined
  if (current === undefined) return false
  if (precondition === 'exists') return true
  return [skillTag(current), current.digest].some((tag) => precondition.tags.includes(tag))
}
