import type { Denied, Loaded } from '../domain/receipt.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import { answer, isErrorResult, type Outcome, textOf, type Verdict } from './answer-call.ts'
import { loadOn, toLoaded, toUse } from './loads.ts'
import type { ToolCall } from './model.ts'
import type { TurnObserver } from './observer.ts'
import type { Tool, ToolContext } from './tool.ts'
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
  observer: TurnObserver
  /** The tools that are ours. */
  ours: readonly Tool[]
}

/** Runs calls side by side; those that wait for the caller are passed over. */
export async function runCalls(
  calls: readonly JudgedCall[],
  surroundings: Surroundings,
): Promise<CallsRun> {
  const { step, observer, ours } = surroundings
  const running: Promise<Outcome>[] = []
  const denied: Denied[] = []
  for (const { call, verdict } of calls) {
    if (verdict.kind === 'client' || verdict.kind === 'approval') {
      observer.callWaits({ tool: nameIn(ours, call) }, verdict.kind)
      continue
    }
    running.push(runOne(call, verdict, surroundings))
    if (verdict.kind === 'refused' && verdict.denied) denied.push({ ...verdict.denied, step })
  }
  const outcomes = await Promise.all(running)
  const loads = outcomes.map(({ result }) => loadOn(result)).filter((load) => load !== undefined)
  const uses = outcomes.flatMap(({ use }) => (use ? [{ ...use, step }] : []))
  const all = [...loads.map((load) => toUse(load, step)), ...uses, ...denied.flatMap(toDeniedUse)]
  for (const use of all) observer.skillUsed(use)
  return { outcomes, loaded: loads.map((load) => toLoaded(load, step)), denied, uses: all }
}

async function runOne(
  call: ToolCall,
  verdict: Exclude<Verdict, { kind: 'client' | 'approval' }>,
  { step, hooks, observer, ours, ...context }: Surroundings,
): Promise<Outcome> {
  const told = observer.toolCalled({ callId: call.toolCallId, tool: nameIn(ours, call) })
  const outcome = await answer(call, verdict, context).catch((error) => {
    told.ended('failed', '')
    throw error
  })
  const { result, output = textOf(result) } = outcome
  const ending = isErrorResult(result) ? 'error' : 'ok'
  told.ended(verdict.kind === 'refused' ? 'refused' : ending, output)
  if (verdict.kind === 'tool') {
    await hooks.afterCall(call, step, { output, isError: isErrorResult(result) })
  }
  return outcome
}

const nameIn = (ours: readonly Tool[], { toolName }: ToolCall): string | null =>
  ours.some(({ name }) => name === toolName) ? toolName : null

const toDeniedUse = ({ skill, step }: Denied): SkillUse[] =>
  skill === null ? [] : [{ skill, version: null, kind: 'denied', tokens: 0, step }]
