import type { Kysely } from 'kysely'
import { publish } from './publish.ts'
import { recordChanges } from './record-changes.ts'
import { recordReads } from './record-reads.ts'
import { skillChanges } from './skill-changes.ts'
import { skillReads } from './skill-reads.ts'
import { skillSearches } from './skill-search.ts'
import type { SkillStore } from './skills.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'

/** One store for both databases: the same queries, compiled for either dialect. */
export function createSkillStore(db: Kysely<Tables>): SkillStore {
  return tellingFaults<SkillStore>({
    ...skillReads(db),
    ...skillSearches(db),
    ...skillChanges(db),
    ...recordReads(db),
    ...recordChanges(db),
    publish: (publication, recording) => publish(db, publication, recording),
    async probe() {
      await db
        .updateTable('probe')
        .set(({ eb }) => ({ writes: eb('writes', '+', 1) }))
        .execute()
    },
  })
}
