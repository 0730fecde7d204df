import type { Denied } from '../domain/receipt.ts'
import type { Answered } from '../store/chats.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import { misfit } from './input-schema.ts'
import { markLoad } from './loads.ts'
import type { ToolCall, ToolResult } from './model.ts'
import type { Policy } from './policy.ts'
import { type Tool, type ToolContext, type ToolDefinition, ToolError } from './tool.ts'
import { shownOutput } from './tool-output.ts'
import type { TurnHooks } from './turn-hooks.ts'

/** Who answers a call: the caller, we by a tool, we once it is approved, or we with a refusal. */
export type Verdict = { kind: 'client' } | Allowed | { kind: 'approval'; tool: Tool } | Refused

interface Allowed {
  kind: 'tool'
  tool: Tool
}

interface Refused {
  kind: 'refused'
  why: string
  denied?: Omit<Denied, 'step'>
}

export interface Toolbox {
  policy: Policy
  ours: readonly Tool[]
  callers: readonly ToolDefinition[]
  /** Whether somebody is there to approve a call. */
  approvable: boolean
}

interface Judging {
  hooks: Pick<TurnHooks, 'beforeCall'>
  step: number
  /** Whether the caller has said yes. */
  approved?: boolean
}

/**
 * In the order: is there such a tool, do the arguments fit, does the policy allow it, does a hook
 * (prior-art PM-04). What was approved is not asked for again.
 */
export async function judge(
  call: ToolCall,
  { policy, ours, callers, approvable }: Toolbox,
  { hooks, step, approved = false }: Judging,
): Promise<Verdict> {
  const { toolName: name, providerOptions } = call
  const tool = ours.find((candidate) => candidate.name === name)
  const definition = tool ?? callers.find((candidate) => candidate.name === name)
  if (!definition) return { kind: 'refused', why: `There is no tool named "${name}".` }

  const malformed = providerOptions?.loadskill?.malformed
  if (typeof malformed === 'string') {
    const shown = malformed.slice(0, 200)
    return { kind: 'refused', why: `The arguments are not a JSON object: ${shown}` }
  }
  const wrong = misfit(name, definition.inputSchema, call.input)
  if (wrong) return { kind: 'refused', why: `The arguments do not fit: ${wrong}` }

  const decision = policy.decide(name, Object(call.input), tool)
  if (decision.kind === 'refuse') return { ...decision, kind: 'refused' }
  const word = await hooks.beforeCall(call, step)
  if (word?.decision === 'refuse') {
    return { kind: 'refused', why: word.reason, denied: { tool: name, skill: null, by: 'hook' } }
  }
  if (!tool) return { kind: 'client' }
  const asks = decision.kind === 'ask' || word?.decision === 'ask'
  if (!asks || approved) return { kind: 'tool', tool }
  if (approvable) return { kind: 'approval', tool }
  const why = `The tool "${name}" needs an approval, and nobody can give one here: it did not run.`
  return { kind: 'refused', why, denied: { tool: name, skill: null, by: 'rule' } }
}

export interface Outcome extends Answered<ToolResult> {
  use?: Omit<SkillUse, 'step'>
}

/** Runs a call that is ours, or says to the model what is wrong with it. */
export async function answer(
  call: ToolCall,
  verdict: Allowed | Refused,
  context: Omit<ToolContext, 'callId'>,
): Promise<Outcome> {
  const { toolCallId: callId } = call
  if (verdict.kind === 'refused') return { callId, result: toResult(call, verdict.why, true) }
  try {
    const { text, load, use } = await verdict.tool.run(Object(call.input), { ...context, callId })
    if (load)
      return { callId, result: { ...toResult(call, text), providerOptions: markLoad(load) } }
    return { ...cutResult(call, text), ...(use && { use }) }
  } catch (error) {
    if (error instanceof ToolError) return cutResult(call, error.message, true)
    throw error
  }
}

function cutResult(call: ToolCall, output: string, isError = false): Outcome {
  const { toolCallId: callId } = call
  const shown = shownOutput(output, callId)
  return { callId, result: toResult(call, shown, isError), ...(shown !== output && { output }) }
}

export const toResult = (
  { toolCallId, toolName }: Pick<ToolCall, 'toolCallId' | 'toolName'>,
  value: string,
  isError = false,
): ToolResult => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: { type: isError ? 'error-text' : 'text', value },
})

export const isErrorResult = ({ output }: ToolResult): boolean => output.type === 'error-text'

/** The text of a result; ours have no other kind of output. */
export const textOf = ({ output }: ToolResult): string =>
  output.type === 'text' || output.type === 'error-text' ? output.value : ''
