import type { Denied, Loaded } from '../domain/receipt.ts'
import { answer, judge, type Verdict } from './answer-call.ts'
import { breathe } from './breathe.ts'
import { loadOn, toLoaded } from './loads.ts'
import type { Message, Model, ModelUsage, TextDelta, ToolCall, ToolResult } from './model.ts'
import type { StepPlan } from './plan-step.ts'
import { sendable } from './sendable.ts'

export interface ModelAnswered {
  type: 'model.answered'
  step: number
  plan: StepPlan
  usage: ModelUsage
  message: Message
  calls: JudgedCall[]
}

export interface JudgedCall {
  call: ToolCall
  verdict: Verdict
}

export interface CallsAnswered {
  type: 'calls.answered'
  step: number
  /** Of the calls that were ours, in call order. */
  results: ToolResult[]
  /** The results as a message; absent while a call waits for the caller. */
  message: Message | undefined
  loaded: Loaded[]
  denied: Denied[]
}

/**
 * The loop goes on when the next event is asked for: whoever stores what an event carries before
 * that has stored each step before the next begins.
 */
export type LoopEvent =
  | TextDelta
  | ModelAnswered
  | CallsAnswered
  | { type: 'loop.ended'; end: LoopEnd }

export type LoopEnd = 'answered' | 'max_tokens' | 'max_steps' | 'tool_calls'

interface LoopStart {
  /** What the model is shown; the loop adds to it. */
  messages: Message[]
  /** How many steps the turn has made already. */
  steps: number
  maxSteps: number
  model: Model
  planStep(messages: readonly Message[]): Promise<StepPlan>
  signal: AbortSignal
}

/** Asks the model, answers the calls that are ours, asks again, until something ends it. */
export async function* runLoop(start: LoopStart): AsyncGenerator<LoopEvent, void, void> {
  const { messages, maxSteps, model, planStep, signal } = start

  for (let step = start.steps + 1; step <= maxSteps; step++) {
    await breathe()
    const plan = await planStep(messages)
    const reply = yield* model({ ...plan.request, messages, signal })
    await breathe()
    const message = sendable(reply.message, messages)
    const toolCalls = message.content.filter((part) => part.type === 'tool-call')
    const calls = toolCalls.map((call) => ({ call, verdict: judge(call, plan.toolbox) }))
    messages.push(message)
    yield { type: 'model.answered', step, plan, usage: reply.usage, message, calls }
    if (calls.length === 0) return yield ended(reply.cut ? 'max_tokens' : 'answered')

    const answered = await answerCalls(calls, step, signal)
    if (answered.message) messages.push(answered.message)
    yield answered
    if (!answered.message) return yield ended('tool_calls')
  }
  yield ended('max_steps')
}

const ended = (end: LoopEnd): LoopEvent => ({ type: 'loop.ended', end })

/** Side by side; the results stand in call order, whatever ran first. */
async function answerCalls(
  calls: readonly JudgedCall[],
  step: number,
  signal: AbortSignal,
): Promise<CallsAnswered> {
  const answering: Promise<ToolResult>[] = []
  const denied: Denied[] = []
  for (const { call, verdict } of calls) {
    if (verdict.kind === 'client') continue
    answering.push(answer(call, verdict, signal))
    if (verdict.kind === 'refused' && verdict.denied) denied.push({ ...verdict.denied, step })
  }
  const results = await Promise.all(answering)
  const loads = results.map(loadOn).filter((load) => load !== undefined)
  return {
    type: 'calls.answered',
    step,
    results,
    message: results.length === calls.length ? { role: 'tool', content: results } : undefined,
    loaded: loads.map((load) => toLoaded(load, step)),
    denied,
  }
}
