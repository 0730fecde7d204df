import type { Receipt } from '../domain/receipt.ts'
import type { ErrorCode } from '../errors.ts'
import type { IdempotencyKey } from './idempotency.ts'
import type { SkillUse } from './skill-uses.ts'

export type TurnStatus =
  | 'running'
  | 'completed'
  | 'requires_action'
  | 'incomplete'
  | 'failed'
  | 'interrupted'

export type StopReason =
  | 'answered'
  | 'tool_calls'
  | 'approval'
  | 'max_steps'
  | 'budget'
  | 'max_tokens'
  | 'error'
  | 'cancelled'

export interface Usage {
  modelCalls: number
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

export interface Conversation<Settings> {
  /** `conv_…` */
  id: string
  agent: string
  /** The API key that began it; null when there was none. */
  owner: string | null
  settings: Settings
  createdAt: string
  updatedAt: string
}

export interface Turn {
  /** `turn_…` */
  id: string
  conversationId: string
  status: TurnStatus
  stopReason: StopReason | null
  steps: number
  usage: Usage
  receipt: Receipt
  error: { code: ErrorCode; detail: string } | null
  createdAt: string
  updatedAt: string
}

export interface StoredMessage<Message> {
  turnId: string
  message: Message
}

/** One model call: what was sent. Equal texts are stored once. */
export interface Step {
  /** Counts from 1 within the turn. */
  step: number
  /** The catalog's revision. */
  revision: number
  system: string
  /** JSON of the tools on offer. */
  tools: string
  /** JSON of the skills on offer: name, version, digest, shown. */
  offered: string
  tokens: SkillTokens
}

/** What of a model call was skills. */
export interface SkillTokens {
  catalog: number
  /** Of the bodies in the context. */
  bodies: number
  /** What all bodies on offer would have been. */
  inlined: number
}

export interface Call<Result> {
  callId: string
  turnId: string
  step: number
  name: string
  /** Who answers it: we by running a tool, the caller, or we once the caller approves. */
  kind: 'tool' | 'client' | 'approval'
  /** Null until it is answered. A `tool` call without a result was running when the process died. */
  result: Result | null
}

/** What a call is answered with. */
export interface Answered<Result> {
  callId: string
  result: Result
  /** The whole output, where the result holds only a part of it. */
  output?: string
}

/** Marks a turn as the effect of a request that may come again. */
export type TurnRecording = IdempotencyKey & { fingerprint: string }

/** How a turn stands; everything but the receipt's offered list, which is in the steps. */
export type TurnState = Pick<
  Turn,
  'status' | 'stopReason' | 'steps' | 'usage' | 'receipt' | 'error'
>

/** A step to store in one transaction, with what has come of its calls already. */
export interface StepRecord<Message, Result> {
  step: Step
  /** What the model said, and what follows it already. */
  messages: Message[]
  calls: (Omit<Call<Result>, 'turnId' | 'step'> & Pick<Answered<Result>, 'output'>)[]
  uses?: SkillUse[]
  /** That the model call cost, in and out together. */
  tokens: number
}

export type NewConversation<Settings> = Pick<Conversation<Settings>, 'agent' | 'owner' | 'settings'>

export interface TurnBeginning<Message> {
  messages: Message[]
  state: Omit<TurnState, 'status'>
  uses?: SkillUse[]
  recording?: TurnRecording | undefined
}

/**
 * Conversations, their messages and turns. One method is one transaction. `Message` and `Result`
 * are kept as JSON with a format number; a conversation of another owner does not exist, except
 * for the owner `undefined`, who sees all.
 */
export interface ChatStore<Message, Result, Settings, Compaction> {
  find(id: string, owner?: string | null): Promise<Conversation<Settings> | undefined>
  /** Newest first, those older than `before` (an id). */
  list(
    owner: string | null | undefined,
    page: { before?: string; limit: number },
  ): Promise<Conversation<Settings>[]>
  /** Resolves to false when there is no such conversation. */
  remove(id: string): Promise<boolean>
  /** All of them, oldest first. */
  messages(id: string): Promise<StoredMessage<Message>[]>
  /** The calls of the newest step that had any, in call order. */
  lastCalls(id: string): Promise<Call<Result>[]>
  /** The call of that id, in any turn. */
  findCall(
    id: string,
    callId: string,
  ): Promise<(Call<Result> & { output: string | null }) | undefined>
  /** The conversation of that owner in which one of these calls waits for its caller. */
  findWaiting(callIds: readonly string[], owner: string | null): Promise<string | undefined>
  /** What is left out of the context, if anything. */
  compaction(id: string): Promise<Compaction | undefined>
  /** Tokens that the model calls of an owner cost on a day (`YYYY-MM-DD`, UTC). */
  spent(owner: string, day: string): Promise<number>

  /** Oldest first, those younger than `after` (an id). */
  turns(id: string, page: { after?: string; limit: number }): Promise<Turn[]>
  findTurn(id: string, turnId: string): Promise<Turn | undefined>
  /** The newest turn. */
  lastTurn(id: string): Promise<Turn | undefined>
  /** Of all its turns together. */
  usage(id: string): Promise<Usage>
  /** What each model call of a turn was sent, oldest first. */
  steps(turnId: string): Promise<Step[]>

  /** A new conversation with its first turn, running. */
  begin(
    conversation: NewConversation<Settings>,
    begin: TurnBeginning<Message>,
  ): Promise<{ conversation: Conversation<Settings>; turn: Turn }>
  /**
   * A new turn, running, with its first messages. Undefined when one is running, or the newest
   * turn is not `after` (null: there is none).
   */
  beginTurn(
    id: string,
    begin: TurnBeginning<Message> & { after: string | null; settings: Settings },
  ): Promise<Turn | undefined>
  /** The turn runs again. Undefined when one is running, or it is not the newest. */
  resumeTurn(
    turnId: string,
    settings: Settings,
    recording?: TurnRecording,
  ): Promise<Turn | undefined>
  saveStep(turnId: string, record: StepRecord<Message, Result>, state: TurnState): Promise<void>
  /**
   * Answers calls of the newest step; `message` follows when all of them are answered. `started`
   * are approved calls that run from now on: each can be started once.
   */
  saveResults(
    turnId: string,
    results: Answered<Result>[],
    message: Message | undefined,
    state: TurnState,
    more?: { started?: string[]; uses?: SkillUse[] },
  ): Promise<void>
  /** Adds messages to a turn that runs. */
  saveMessages(turnId: string, messages: Message[], uses?: SkillUse[]): Promise<void>
  /** `tokens` is what it cost to make. */
  saveCompaction(
    turnId: string,
    made: { compaction: Compaction; tokens: number },
    state: TurnState,
  ): Promise<void>
  saveState(turnId: string, state: TurnState): Promise<void>
  /** At the start: turns that were running when the process died are `interrupted`. How many. */
  interruptRunning(): Promise<number>
}
