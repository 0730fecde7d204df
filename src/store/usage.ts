import type { SkillUse } from './skill-uses.ts'

export interface UseCounts {
  loads: number
  repeats: number
  denials: number
  /** Of its bundled files. */
  reads: number
  /** That its loads and reads put into contexts. */
  tokens: number
  lastUsedAt: string | null
}

export interface SkillUsage extends UseCounts {
  /** Newest first; null is where no version is known, as of a denial. */
  versions: (UseCounts & { version: SkillUse['version'] })[]
}

/** Tokens of skills in all model calls: as they were sent, and each once where it was new. */
export interface TokenSums {
  catalog: number
  bodies: number
  /** What it would have been with the bodies of all skills on offer in each prompt. */
  inlined: number
}

export interface TotalUsage extends UseCounts {
  conversations: number
  turns: number
  modelCalls: number
  sent: TokenSums
  /** Of what was sent, that which no call before in the conversation had sent: the rest is cached. */
  fresh: TokenSums
}

/** What became of skills, in conversations and outside. One method is one transaction. */
export interface UsageStore {
  /** All zero where it was never used. */
  ofSkill(name: string): Promise<SkillUsage>
  total(): Promise<TotalUsage>
  /** Counts a use outside of conversations. `owner` is the API key of whoever made it. */
  record(use: SkillUse, owner: string | null): Promise<void>
}
