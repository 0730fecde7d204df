import { allowedBy, type ToolList } from '../domain/tool-permissions.ts'
import type { LoadMark } from './loads.ts'
import type { AllowedToolsMode } from './settings.ts'
import type { ToolDefinition } from './tool.ts'

/** Decides which tools a step may use, from the skills that are in the context. */
export interface Policy {
  /** Those on offer: `restrict` narrows to the union of the loaded skills' lists. */
  narrow(tools: readonly ToolDefinition[]): ToolDefinition[]
  /** The skill whose list refuses a tool; undefined when it may run. */
  deniedBy(tool: string): string | undefined
}

/**
 * `restrict` takes away, and never adds: a skill cannot bring a tool that is not there.
 * `preapprove` and `off` take nothing away (api.md 4, rule 4).
 */
export function policyOf(mode: AllowedToolsMode, loads: Iterable<LoadMark>): Policy {
  const lists: ToolList[] = []
  for (const { name, allowedTools } of mode === 'restrict' ? loads : []) {
    if (allowedTools) lists.push({ skill: name, allowedTools })
  }
  const allows = (tool: string) => lists.length === 0 || allowedBy(lists, tool)
  return {
    narrow: (tools) => tools.filter(({ name }) => allows(name)),
    deniedBy: (tool) => (allows(tool) ? undefined : lists.at(-1)?.skill),
  }
}
