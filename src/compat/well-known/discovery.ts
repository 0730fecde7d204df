import { setImmediate } from 'node:timers/promises'
import type { CatalogEntry } from '../../domain/catalog-entry.ts'
import { fits, type SnapshotFilter } from '../../registry/snapshot.ts'
import type { SkillStore } from '../../store/skills.ts'
import { createArchiveCache } from './archive-cache.ts'
import { type Artifact, type Inspected, inspect, packFiles } from './artifact.ts'

export interface Offer extends Artifact {
  entry: CatalogEntry
}

/** What strange clients may find, as it is now. */
interface Discovery {
  /** Sorted by name. */
  list(filter: SnapshotFilter): Promise<Offer[]>
  find(filter: SnapshotFilter, name: string): Promise<Offer | undefined>
  /** The bytes that the digest of an offer with several files is of. */
  archive(offer: Offer): Promise<Buffer>
}

/** Of archives, which are made anew when they are asked for and are no longer here. */
const CACHE_BYTES = 32 * 1024 * 1024
/** How many skills are looked at side by side: a client waits ten seconds for the first index. */
const TOGETHER = 16

type Reads = Pick<SkillStore, 'revision' | 'catalog' | 'findVersion' | 'readFile'>

export function openDiscovery(skills: Reads): Discovery {
  const cached = createArchiveCache(CACHE_BYTES)
  /** By what an artifact follows from; no more than there are skills. */
  const inspected = new Map<string, Promise<Inspected>>()
  let catalog: { revision: number; entries: CatalogEntry[] } = { revision: -1, entries: [] }

  async function offered(filter: SnapshotFilter): Promise<CatalogEntry[]> {
    if ((await skills.revision()) !== catalog.revision) {
      const latest = await skills.catalog()
      if (latest.revision > catalog.revision) {
        catalog = latest
        const current = new Set(latest.entries.map(keyOf))
        for (const key of inspected.keys()) if (!current.has(key)) inspected.delete(key)
      }
    }
    const isIn = fits(filter)
    return catalog.entries.filter((entry) => entry.enabled && isIn(entry))
  }

  async function offer(entry: CatalogEntry): Promise<Offer | undefined> {
    const artifact = await (inspected.get(keyOf(entry)) ?? look(entry))
    return artifact ? { ...artifact, entry } : undefined
  }

  function look(entry: CatalogEntry): Promise<Inspected> {
    const key = keyOf(entry)
    const looking = inspect(skills, entry, (files) =>
      cached(key, () => packFiles(skills, entry, files)),
    )
    inspected.set(key, looking)
    const forget = () => {
      if (inspected.get(key) === looking) inspected.delete(key)
    }
    looking.then((found) => found === undefined && forget(), forget)
    return looking
  }

  return {
    async list(filter) {
      const entries = await offered(filter)
      const offers: Offer[] = []
      for (let at = 0; at < entries.length; at += TOGETHER) {
        const some = entries.slice(at, at + TOGETHER)
        // The embedded database answers at once: nobody else would have a turn.
        if (some.some((entry) => !inspected.has(keyOf(entry)))) await setImmediate()
        for (const found of await Promise.all(some.map(offer))) if (found) offers.push(found)
      }
      return offers
    },

    async find(filter, name) {
      const entry = (await offered(filter)).find((one) => one.name === name)
      return entry && (await offer(entry))
    },

    archive: ({ entry, files }) => cached(keyOf(entry), () => packFiles(skills, entry, files)),
  }
}

const keyOf = ({ name, digest }: CatalogEntry): string => `${digest} ${name}`
