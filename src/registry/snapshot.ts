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
    narrow({ names: only, tags }) {
      if (only === null && tags === null) return this
      const wanted = only && new Set(only)
      const kept = entries.filter(
        (entry) => (wanted?.has(entry.name) ?? true) && hasTags(entry, tags ?? []),
      )
      return ofEntries(revision, kept)
    },
  }
}

function hasTags(entry: CatalogEntry, wanted: readonly string[]): boolean {
  const tags = entry.tags.map((tag) => tag.toLowerCase())
  return wanted.every((tag) => tags.includes(tag.toLowerCase()))
}
