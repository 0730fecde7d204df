import type { Denied } from '../domain/receipt.ts'
import { allowedBy, allowsCall, type ToolList } from '../domain/tool-permissions.ts'
import type { LoadMark } from './loads.ts'
import type { AllowedToolsMode } from './settings.ts'
import type { Tool, ToolDefinition, ToolInput } from './tool.ts'

/** What becomes of a call whose arguments fit. */
export type Decision =
  | { kind: 'run' }
  /** It runs once somebody has approved it. */
  | { kind: 'ask' }
  | { kind: 'refuse'; why: string; denied: Omit<Denied, 'step'> }

/** Decides which tools a step is offered, and what becomes of each call. */
export interface Policy {
  /** Those on offer: `restrict` narrows to the union of the loaded skills' lists. */
  narrow(tools: readonly ToolDefinition[]): ToolDefinition[]
  /** `tool` is the one that would run; undefined when the caller runs it. */
  decide(name: string, input: ToolInput, tool?: Tool): Decision
}

interface Rules {
  mode: AllowedToolsMode
  /** The skills that are in the context. */
  loads: Iterable<LoadMark>
  /** Whether the agent wants calls of a tool to be approved. */
  asksFor(tool: string): boolean
}

/**
 * In the order: the lists of loaded skills, the tool's own refusals, approval. `restrict` takes
 * away and never adds: a skill cannot bring a tool that is not there. `preapprove` takes nothing
 * away and spares listed calls the approval (api.md 4, rule 4; prior-art PM-04).
 */
export function policyOf({ mode, loads, asksFor }: Rules): Policy {
  const lists: ToolList[] = []
  for (const { name, allowedTools } of mode === 'off' ? [] : loads) {
    if (allowedTools) lists.push({ skill: name, allowedTools })
  }
  const restricts = mode === 'restrict' && lists.length > 0

  return {
    narrow: (tools) => tools.filter(({ name }) => !restricts || allowedBy(lists, name)),

    decide(name, input, tool) {
      const listed = lists.length > 0 && allowsCall(lists, name, input)
      if (restricts && !listed) return byList(name, lists, allowedBy(lists, name))
      const refusal = tool?.refusal?.(input)
      if (refusal !== undefined) {
        return { kind: 'refuse', why: refusal, denied: { tool: name, skill: null, by: 'rule' } }
      }
      const asks = tool !== undefined && (asksFor(name) || tool.needsApproval?.(input) === true)
      const spared = mode === 'preapprove' && listed
      return { kind: asks && !spared ? 'ask' : 'run' }
    },
  }
}

function byList(tool: string, lists: readonly ToolList[], otherwise: boolean): Decision {
  const skill = lists.at(-1)?.skill ?? null
  const what = otherwise ? 'may not be called with these arguments' : 'is not allowed'
  const does = otherwise ? 'limits them' : 'does not list it'
  const why = `The tool "${tool}" ${what}: the loaded skill "${skill}" ${does} in its allowed-tools.`
  return { kind: 'refuse', why, denied: { tool, skill, by: 'skill' } }
}
