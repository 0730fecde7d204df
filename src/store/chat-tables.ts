import type { Generated } from 'kysely'
import type { Call, StopReason, TurnStatus } from './chats.ts'
import type { SkillUse } from './skill-uses.ts'

export interface ConversationTable {
  seq: Generated<number>
  agent: string
  owner: string | null
  settings: string
  compaction: string | null
  created_at: string
  updated_at: string
}

export interface TurnTable {
  seq: Generated<number>
  conversation: number
  status: TurnStatus
  stop_reason: StopReason | null
  steps: number
  usage: string
  receipt: string
  error: string | null
  created_at: string
  updated_at: string
}

interface MessageTable {
  seq: Generated<number>
  conversation: number
  turn: number
  format: number
  message: string
}

interface StepTable {
  turn: number
  step: number
  revision: number
  system: string
  tools: string
  offered: string
  catalog_tokens: number
  body_tokens: number
  inlined_tokens: number
}

export interface CallTable {
  seq: Generated<number>
  conversation: number
  turn: number
  step: number
  call_id: string
  name: string
  kind: Call<unknown>['kind']
  format: number
  result: string | null
  output: string | null
}

export interface SkillUseTable {
  seq: Generated<number>
  skill: string
  version: number | null
  kind: SkillUse['kind']
  tokens: number
  conversation: number
  turn: number
  step: number
  owner: string | null
  used_at: string
}

export interface ChatTables {
  conversations: ConversationTable
  turns: TurnTable
  messages: MessageTable
  texts: { sha256: string; text: string }
  turn_steps: StepTable
  tool_calls: CallTable
  skill_uses: SkillUseTable
  token_spending: { owner: string; day: string; tokens: number }
}
