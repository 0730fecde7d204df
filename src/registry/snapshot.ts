import type { CatalogEntry } from '../domain/catalog-entry.ts'

/** The live catalog as of one revision. Immutable. */
export interface Snapshot {
  readonly revision: number
  /** What a model may be offered, in code-point order of the names. */
  readonly entries: readonly CatalogEntry[]
  has(name: string): boolean
  names(): Iterable<string>
  /** Those of the given names that also have all of the given tags; null does not narrow. */
  narrow(filter: SnapshotFilter): Snapshot
}

export interface SnapshotFilter {
  names: readonly string[] | null
  tags: readonly string[] | null
}

/** Of all skills, those that are enabled and not hidden from models. */
export const toSnapshot = (revision: number, skills: readonly CatalogEntry[]): Snapshot =>
  ofEntries(
    revision,
    skills.filter(({ enabled, hidden }) => enabled && !hidden),
  )

function ofEntries(revision: number, entries: readonly CatalogEntry[]): Snapshot {
  const names = new Set(entries.map(({ name }) => name))
  return {
    revision,
    entries,
    has: (name) => names.has(name),
    names: () => names,
    narrow(filter) {
      if (filter.names === null && filter.tags === null) return this
      return ofEntries(revision, entries.filter(fits(filter)))
    },
  }
}

type Named = Pick<CatalogEntry, 'name' | 'tags'>

/** Whether a skill is one of those that a filter leaves. */
export function fits({ names, tags }: SnapshotFilter): (skill: Named) => boolean {
  const wanted = names && new Set(names)
  return (skill) => (wanted?.has(skill.name) ?? true) && hasTags(skill, tags ?? [])
}

function hasTags(entry: Named, wanted: readonly string[]): boolean {
  const tags = entry.tags.map((tag) => tag.toLowerCase())
  return wanted.every((tag) => tags.includes(tag.toLowerCase()))
}
