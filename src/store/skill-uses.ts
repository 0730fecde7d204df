/** What happened with a skill in a step; 0 is before the first one. */
export interface SkillUse {
  skill: string
  /** Null where it is not known. */
  version: number | null
  /** `denied`: its allowed-tools refused a call; `read`: one of its files was read. */
  kind: 'load' | 'repeat' | 'denied' | 'read'
  /** That it put into the context. */
  tokens: number
  step: number
}
