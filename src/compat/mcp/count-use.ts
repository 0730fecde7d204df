import type { FastifyBaseLogger } from 'fastify'
import type { SkillUse } from '../../store/skill-uses.ts'
import type { UsageStore } from '../../store/usage.ts'

/** Counts what was made of a skill, where it is known; never fails for its own sake. */
export type CountUse = (use: SkillUse | undefined, owner: string | null) => Promise<void>

export const useCounter =
  (usage: Pick<UsageStore, 'record'>, log: Pick<FastifyBaseLogger, 'warn'>): CountUse =>
  async (use, owner) => {
    if (!use) return
    try {
      await usage.record(use, owner)
    } catch (error) {
      log.warn({ err: error, skill: use.skill }, 'use not counted')
    }
  }
