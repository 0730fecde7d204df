import type { Tool, ToolSource } from './tool.ts'

/** Several sources as one; of two tools of one name the first counts. */
export const joinSources = (...sources: ToolSource[]): ToolSource => ({
  async tools(step) {
    const found = await Promise.all(sources.map((source) => source.tools(step)))
    const byName = new Map<string, Tool>()
    for (const tool of found.flat()) if (!byName.has(tool.name)) byName.set(tool.name, tool)
    return [...byName.values()]
  },
})
