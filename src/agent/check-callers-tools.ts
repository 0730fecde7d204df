import { SKILL_TOOLS } from '../domain/tool-permissions.ts'
import { AppError } from '../errors.ts'
import { checkSchema } from './input-schema.ts'
import { isToolName } from './sendable.ts'
import type { ToolDefinition } from './tool.ts'

/** Of the schemas of all tools together, for each has to be compiled. */
const MAX_SCHEMA_CHARACTERS = 256 * 1024

/** Throws `tool_name_taken` or `tool_schema_invalid`. */
export function checkCallersTools(tools: readonly ToolDefinition[], ours: Iterable<string>): void {
  const size = tools.reduce((sum, tool) => sum + JSON.stringify(tool.inputSchema).length, 0)
  if (size > MAX_SCHEMA_CHARACTERS) {
    const sizes = `${size} characters together, of ${MAX_SCHEMA_CHARACTERS} allowed`
    throw new AppError('tool_schema_invalid', `The schemas of your tools have ${sizes}.`)
  }
  const reserved = new Set([...SKILL_TOOLS, ...ours])
  const brought = new Set<string>()
  for (const { name, inputSchema } of tools) {
    if (!isToolName(name)) {
      throw new AppError('tool_name_taken', `The tool name "${name}" is reserved.`)
    }
    if (reserved.has(name) || brought.has(name)) {
      const whose = reserved.has(name) ? 'a tool of the service' : 'another tool of yours'
      throw new AppError('tool_name_taken', `The tool name "${name}" is the name of ${whose}.`)
    }
    brought.add(name)
    checkSchema(name, inputSchema)
  }
}
