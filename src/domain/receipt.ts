/** A load of a skill's body into a conversation. */
export interface Loaded {
  name: string
  version: number
  digest: string
  /** Estimated tokens that the load put into the context. */
  tokens: number
  /** The step whose calls asked for it; 0 for a preload. */
  step: number
  /** Whether the body was in the context already, so that one short line answered. */
  repeat: boolean
}

/** A call that was refused. */
export interface Denied {
  tool: string
  /** The loaded skill whose allowed-tools refused it; null when something else did. */
  skill: string | null
  /** A loaded skill's list, a rule of the tool itself, a hook, or the caller who was asked. */
  by: 'skill' | 'rule' | 'hook' | 'caller'
  step: number
}

/** What a turn saw and used of the skills, with the versions: stored with every turn. */
export interface Receipt {
  catalog: {
    revision: number
    tokens: number
    offered: number
    shortened: number
    omitted: number
  }
  loaded: Loaded[]
  denied: Denied[]
  tokens: {
    catalog: number
    /** Of the bodies that were loaded. */
    skills: number
    /** What the bodies of all skills on offer would have cost in the system prompt. */
    allInlined: number
  }
}

export const emptyReceipt = (): Receipt => ({
  catalog: { revision: 0, tokens: 0, offered: 0, shortened: 0, omitted: 0 },
  loaded: [],
  denied: [],
  tokens: { catalog: 0, skills: 0, allInlined: 0 },
})
