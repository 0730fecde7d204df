import { breathe } from '../breathe.ts'
import { judge } from './answer-call.ts'
import {
  leave,
  type Message,
  type Model,
  type ModelUsage,
  type Reply,
  type TextDelta,
} from './model.ts'
import { isTooLong } from './models/failure.ts'
import type { TurnObserver } from './observer.ts'
import type { StepPlan } from './plan-step.ts'
import type { ContextCompacted, Prepared } from './prepare-step.ts'
import { type CallsRun, type JudgedCall, runCalls } from './run-calls.ts'
import { byHook } from './said-by.ts'
import { sendable } from './sendable.ts'
import type { TurnHooks } from './turn-hooks.ts'

export interface ModelAnswered {
  type: 'model.answered'
  step: number
  plan: StepPlan
  usage: ModelUsage
  message: Message
  calls: JudgedCall[]
}

export interface CallsAnswered extends CallsRun {
  type: 'calls.answered'
  step: number
  /** The results as a message; absent while a call waits for the caller. */
  message: Message | undefined
}

/** A hook has something to add where the turn would have ended. */
export interface TurnProlonged {
  type: 'turn.prolonged'
  message: Message
}

/**
 * The loop goes on when the next event is asked for: whoever stores what an event carries before
 * that has stored each step before the next begins.
 */
export type LoopEvent =
  | TextDelta
  | ContextCompacted
  | ModelAnswered
  | CallsAnswered
  | TurnProlonged
  | { type: 'loop.ended'; end: LoopEnd }

export type LoopEnd = 'answered' | 'max_tokens' | 'max_steps' | 'waiting' | 'budget'

/** How often hooks may keep a turn from ending (api.md 4, rule 10). */
const MAX_PROLONGED = 3

interface LoopStart {
  conversationId: string
  /** Everything that was said; the loop adds to it. */
  messages: Message[]
  /** How many steps the turn has made already. */
  steps: number
  maxSteps: number
  model: Model
  hooks: TurnHooks
  observer: TurnObserver
  /** Whether no further model call may be made. */
  isSpent(): Promise<boolean>
  /** What the next call is made with; undefined when that cannot be made short enough. */
  prepare(
    messages: readonly Message[],
    tooLong: boolean,
  ): AsyncGenerator<ContextCompacted, Prepared | undefined, void>
  signal: AbortSignal
}

/** Asks the model, answers the calls that are ours, asks again, until something ends it. */
export async function* runLoop(start: LoopStart): AsyncGenerator<LoopEvent, void, void> {
  const { conversationId, messages, maxSteps, hooks, observer, signal } = start
  let prolonged = 0

  for (let step = start.steps + 1; step <= maxSteps; step++) {
    await breathe()
    if (await start.isSpent()) return yield ended('budget')
    const asked = yield* askModel(start)
    if (!asked) return yield ended('budget')
    await breathe()
    const { plan, reply } = asked
    const message = sendable(reply.message, messages)
    const calls: JudgedCall[] = await Promise.all(
      message.content
        .filter((part) => part.type === 'tool-call')
        .map(async (call) => ({ call, verdict: await judge(call, plan.toolbox, { hooks, step }) })),
    )
    messages.push(message)
    yield { type: 'model.answered', step, plan, usage: reply.usage, message, calls }

    if (calls.length === 0) {
      if (reply.cut) return yield ended('max_tokens')
      const more =
        prolonged < MAX_PROLONGED ? await hooks.beforeEnd(textIn(message), step) : undefined
      if (more === undefined) return yield ended('answered')
      prolonged++
      messages.push(byHook(more))
      yield { type: 'turn.prolonged', message: byHook(more) }
      continue
    }
    const { ours } = plan.toolbox
    const run = await runCalls(calls, { step, conversationId, signal, hooks, observer, ours })
    const results = run.outcomes.map(({ result }) => result)
    const done = results.length === calls.length
    const answers: Message | undefined = done ? { role: 'tool', content: results } : undefined
    if (answers) messages.push(answers)
    yield { ...run, type: 'calls.answered', step, message: answers }
    if (!done) return yield ended('waiting')
  }
  yield ended('max_steps')
}

const ended = (end: LoopEnd): LoopEvent => ({ type: 'loop.ended', end })

/** Once more, with less, when the provider finds it too long and has said nothing yet. */
async function* askModel({
  messages,
  model,
  prepare,
  signal,
}: LoopStart): AsyncGenerator<
  TextDelta | ContextCompacted,
  { plan: StepPlan; reply: Reply } | undefined,
  void
> {
  for (let tooLong = false; ; tooLong = true) {
    const prepared = yield* prepare(messages, tooLong)
    if (!prepared) return undefined
    const { plan } = prepared
    let spoke = false
    const speaking = model({ ...plan.request, messages: prepared.messages, signal })
    try {
      for (let next = await speaking.next(); ; next = await speaking.next()) {
        if (next.done) return { plan, reply: next.value }
        spoke = true
        yield next.value
      }
    } catch (error) {
      if (spoke || tooLong || !isTooLong(error)) throw error
    } finally {
      await leave(speaking)
    }
  }
}

const textIn = ({ content }: Reply['message']): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')
