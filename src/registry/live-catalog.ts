import type { CatalogEntry } from '../domain/catalog-entry.ts'
import type { SkillStore, StoredSkill } from '../store/skills.ts'
import { type Snapshot, toSnapshot } from './snapshot.ts'

/** The catalog as it is now, in memory. */
export interface LiveCatalog {
  /** Reads it anew when the revision has moved, by whosoever's write. */
  read(): Promise<Snapshot>
  /** Takes over what was just written, where that spares reading everything anew. */
  follow(skill: StoredSkill): void
}

export function openLiveCatalog(skills: Pick<SkillStore, 'revision' | 'catalog'>): LiveCatalog {
  let latest: Snapshot = toSnapshot(-1, [])
  return {
    async read() {
      if ((await skills.revision()) === latest.revision) return latest
      const { revision, entries } = await skills.catalog()
      if (revision > latest.revision) latest = toSnapshot(revision, keepSame(entries, latest))
      return latest
    },

    follow(skill) {
      // Any other revision means that there were other writes, too.
      if (skill.revision !== latest.revision + 1) return
      const { version } = skill
      const others = latest.entries.filter(({ name }) => name !== skill.name)
      if (version !== null) {
        const at = others.findIndex(({ name }) => name > skill.name)
        others.splice(at < 0 ? others.length : at, 0, toEntry(skill, version))
      }
      latest = toSnapshot(skill.revision, others)
    },
  }
}

/** What is known of an entry is kept with the object: what has not changed stays the same object. */
function keepSame(entries: CatalogEntry[], { entries: before }: Snapshot): CatalogEntry[] {
  const known = new Map(before.map((entry) => [entry.name, entry]))
  return entries.map((entry) => {
    const old = known.get(entry.name)
    const same =
      old?.version === entry.version &&
      old.digest === entry.digest &&
      old.description === entry.description &&
      old.enabled === entry.enabled
    return same ? old : entry
  })
}

const toEntry = (skill: StoredSkill, version: number): CatalogEntry => ({
  name: skill.name,
  description: skill.description,
  tags: skill.tags,
  allowedTools: skill.allowedTools,
  hidden: skill.hidden,
  enabled: skill.enabled,
  version,
  digest: skill.digest,
  tokens: skill.tokens,
})
