import type { Denied } from '../domain/receipt.ts'
import { misfit } from './input-schema.ts'
import { markLoad } from './loads.ts'
import type { ToolCall, ToolResult } from './model.ts'
import type { Policy } from './policy.ts'
import { type Tool, type ToolDefinition, ToolError } from './tool.ts'

/** Who answers a call: the caller, or we, with a tool or with a word on what is wrong. */
export type Verdict =
  | { kind: 'client' }
  | { kind: 'tool'; tool: Tool }
  | { kind: 'refused'; why: string; denied?: Omit<Denied, 'step'> }

interface Toolbox {
  policy: Policy
  ours: readonly Tool[]
  callers: readonly ToolDefinition[]
}

/** In the order: is there such a tool, may it be called, do the arguments fit. */
export function judge(call: ToolCall, { policy, ours, callers }: Toolbox): Verdict {
  const { toolName: name, input, providerOptions } = call
  const tool = ours.find((candidate) => candidate.name === name)
  const definition = tool ?? callers.find((candidate) => candidate.name === name)
  if (!definition) return { kind: 'refused', why: `There is no tool named "${name}".` }

  const skill = policy.deniedBy(name)
  if (skill !== undefined) {
    const why = `The tool "${name}" is not allowed: the loaded skill "${skill}" does not list it in its allowed-tools.`
    return { kind: 'refused', why, denied: { tool: name, skill } }
  }
  const malformed = providerOptions?.loadskill?.malformed
  if (typeof malformed === 'string') {
    const shown = malformed.slice(0, 200)
    return { kind: 'refused', why: `The arguments are not a JSON object: ${shown}` }
  }
  const wrong = misfit(name, definition.inputSchema, input)
  if (wrong) return { kind: 'refused', why: `The arguments do not fit: ${wrong}` }
  return tool ? { kind: 'tool', tool } : { kind: 'client' }
}

/** Runs a call that is ours, or says to the model what is wrong with it. */
export async function answer(
  call: ToolCall,
  verdict: Exclude<Verdict, { kind: 'client' }>,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (verdict.kind === 'refused') return toResult(call, verdict.why, true)
  try {
    const { text, load } = await verdict.tool.run(Object(call.input), signal)
    return { ...toResult(call, text), ...(load && { providerOptions: markLoad(load) }) }
  } catch (error) {
    if (error instanceof ToolError) return toResult(call, error.message, true)
    throw error
  }
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
