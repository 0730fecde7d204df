import type { Denied, Loaded } from '../domain/receipt.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import { answer, isErrorResult, type Outcome, textOf, type Verdict } from './answer-call.ts'
import { loadOn, toLoaded, toUse } from './loads.ts'
import type { ToolCall } from './model.ts'
import type { ToolContext } from './tool.ts'
import type { TurnHooks } from './turn-hooks.ts'

export interface JudgedCall {
  call: ToolCall
  verdict: Verdict
}

export interface CallsRun {
  /** Of the calls that were answered here, in call order. */
  outcomes: Outcome[]
  loaded: Loaded[]
  denied: Denied[]
  uses: SkillUse[]
}

interface Surroundings extends Omit<ToolContext, 'callId'> {
  step: number
  hooks: Pick<TurnHooks, 'afterCall'>
}

/** Runs calls side by side; those that wait for the caller are passed over. */
export async function runCalls(
  calls: readonly JudgedCall[],
  { step, hooks, ...context }: Surroundings,
): Promise<CallsRun> {
  const running: Promise<Outcome>[] = []
  const denied: Denied[] = []
  for (const { call, verdict } of calls) {
    if (verdict.kind === 'client' || verdict.kind === 'approval') continue
    running.push(runOne(call, verdict, { step, hooks, ...context }))
    if (verdict.kind === 'refused' && verdict.denied) denied.push({ ...verdict.denied, step })
  }
  const outcomes = await Promise.all(running)
  const loads = outcomes.map(({ result }) => loadOn(result)).filter((load) => load !== undefined)
  const uses = outcomes.flatMap(({ use }) => (use ? [{ ...use, step }] : []))
  return {
    outcomes,
    loaded: loads.map((load) => toLoaded(load, step)),
    denied,
    uses: [...loads.map((load) => toUse(load, step)), ...uses, ...denied.flatMap(toDeniedUse)],
  }
}

async function runOne(
  call: ToolCall,
  verdict: Exclude<Verdict, { kind: 'client' | 'approval' }>,
  { step, hooks, ...context }: Surroundings,
): Promise<Outcome> {
  const outcome = await answer(call, verdict, context)
  const { result, output = textOf(result) } = outcome
  if (verdict.kind === 'tool') {
    await hooks.afterCall(call, step, { output, isError: isErrorResult(result) })
  }
  return outcome
}

const toDeniedUse = ({ skill, step }: Denied): SkillUse[] =>
  skill === null ? [] : [{ skill, version: null, kind: 'denied', tokens: 0, step }]
