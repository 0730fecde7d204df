import type { Skill } from './skill.ts'

/** What the live catalog keeps of each skill that has a current version. */
export interface CatalogEntry
  extends Pick<Skill, 'name' | 'description' | 'tags' | 'allowedTools' | 'hidden'> {
  enabled: boolean
  version: number
  digest: string
  /** Estimated cost of its line in the catalog, and of its body when loaded. */
  tokens: TokenCounts
}

export interface TokenCounts {
  catalog: number
  body: number
}
