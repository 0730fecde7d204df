import { patternAllows } from './argument-patterns.ts'
import { matchesGlob } from './tool-globs.ts'

/** The tools that skills themselves need: no list of a skill takes them away. */
export const SKILL_TOOLS: readonly string[] = ['load_skill', 'read_skill_file', 'search_skills']

/** The allowed-tools of a loaded skill; null where its file does not say. */
export interface ToolList {
  skill: string
  allowedTools: readonly string[] | null
}

/** Whether a tool may be offered: every list adds to the others, and no list allows everything. */
export function allowedBy(lists: readonly ToolList[], toolName: string): boolean {
  return someEntry(lists, toolName, (entry) => names(entry, toolName))
}

/** Whether a tool may be called with these arguments, which an entry such as `Bash(git:*)` limits. */
export function allowsCall(lists: readonly ToolList[], toolName: string, input: unknown): boolean {
  const allows = (entry: string) => names(entry, toolName) && patternAllows(entry, toolName, input)
  return someEntry(lists, toolName, allows)
}

function someEntry(
  lists: readonly ToolList[],
  toolName: string,
  allows: (entry: string) => boolean,
): boolean {
  if (SKILL_TOOLS.includes(toolName)) return true
  const declared = lists.flatMap(({ allowedTools }) => (allowedTools ? [allowedTools] : []))
  return declared.length === 0 || declared.some((entries) => entries.some(allows))
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['Read', 'read_file'],
  ['Write', 'write_file'],
  ['Edit', 'edit_file'],
  ['Glob', 'glob'],
  ['Bash', 'bash'],
])

const OF_WORKSPACES = new Set([...ALIASES].flat().map((name) => name.toLowerCase()))

/**
 * What an entry calls its tool, when it means one that only a service can have and none of `tools`
 * is it. Names in lower case are left to the callers, who bring tools of their own; those in
 * capitals, and those of workspace tools, are what the hosts that skills are written for have.
 */
export function unknownTool(entry: string, tools: readonly string[]): string | undefined {
  const pattern = patternOf(entry)
  if (pattern.includes('*') || pattern.startsWith('mcp__')) return undefined
  if (!/^[A-Z]/.test(pattern) && !OF_WORKSPACES.has(pattern)) return undefined
  return tools.some((tool) => names(entry, tool)) ? undefined : pattern
}

function names(entry: string, toolName: string): boolean {
  const pattern = patternOf(entry)
  return matchesGlob(pattern, toolName) || ALIASES.get(pattern) === toolName
}

/** `Bash(git:*)` names the tool; what its arguments may be is decided where it is called. */
function patternOf(entry: string): string {
  const parenthesis = entry.indexOf('(')
  return (parenthesis < 0 ? entry : entry.slice(0, parenthesis)).trim()
}
