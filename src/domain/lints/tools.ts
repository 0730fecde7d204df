import type { Diagnostics, Place } from '../diagnostics.ts'
import { excerpt } from '../excerpt.ts'
import { unknownTool } from '../tool-permissions.ts'

const MOST = 10

/** Warns of tools that a skill asks for and the service does not have; `tools` are its own. */
export function lintTools(
  allowedTools: readonly string[],
  tools: readonly string[],
  diagnostics: Diagnostics,
  place: Place,
): void {
  const unknown = new Set(allowedTools.flatMap((entry) => unknownTool(entry, tools) ?? []))
  if (unknown.size === 0) return
  const shown = [...unknown].slice(0, MOST).map(excerpt).join(', ')
  const more = unknown.size > MOST ? ` and ${unknown.size - MOST} more` : ''
  const what = `no tool of this service is called ${shown}${more}: only a chat request can bring such a tool.`
  diagnostics.warn('unknown_tool', what, place)
}
