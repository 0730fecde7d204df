/** The tools that skills themselves need: no list of a skill takes them away. */
export const SKILL_TOOLS: readonly string[] = ['load_skill', 'read_skill_file', 'search_skills']

/** The allowed-tools of a loaded skill; null where its file does not say. */
export interface ToolList {
  skill: string
  allowedTools: readonly string[] | null
}

/** Whether a tool may be called: every list adds to the others, and no list allows everything. */
export function allowedBy(lists: readonly ToolList[], toolName: string): boolean {
  if (SKILL_TOOLS.includes(toolName)) return true
  const declared = lists.flatMap(({ allowedTools }) => (allowedTools ? [allowedTools] : []))
  if (declared.length === 0) return true
  return declared.some((entries) => entries.some((entry) => names(entry, toolName)))
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['Read', 'read_file'],
  ['Write', 'write_file'],
  ['Edit', 'edit_file'],
  ['Glob', 'glob'],
  ['Bash', 'bash'],
])

/** `Bash(git:*)` names the tool; what its arguments may be is decided where it is called. */
function names(entry: string, toolName: string): boolean {
  const parenthesis = entry.indexOf('(')
  const pattern = (parenthesis < 0 ? entry : entry.slice(0, parenthesis)).trim()
  return matches(pattern, toolName) || ALIASES.get(pattern) === toolName
}

function matches(pattern: string, toolName: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === toolName
  const end = toolName.length - last.length
  if (first.length > end || !toolName.startsWith(first) || !toolName.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = toolName.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= end
}
