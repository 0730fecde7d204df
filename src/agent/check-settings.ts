import { SKILL_TOOLS } from '../domain/tool-permissions.ts'
import { AppError } from '../errors.ts'
import { checkSchema } from './input-schema.ts'
import type { Models } from './model.ts'
import { isToolName } from './sendable.ts'
import type { Settings } from './settings.ts'

/** Of the schemas of all tools together, for each has to be compiled. */
const MAX_SCHEMA_CHARACTERS = 256 * 1024

/** Throws `model_invalid`, `tool_name_taken` or `tool_schema_invalid`. */
export function checkSettings({ model, tools }: Settings, models: Models): void {
  models.open(model)
  const size = tools.reduce((sum, tool) => sum + JSON.stringify(tool.inputSchema).length, 0)
  if (size > MAX_SCHEMA_CHARACTERS) {
    const sizes = `${size} characters together, of ${MAX_SCHEMA_CHARACTERS} allowed`
    throw new AppError('tool_schema_invalid', `The schemas of your tools have ${sizes}.`)
  }
  const taken = new Set<string>(SKILL_TOOLS)
  for (const { name, inputSchema } of tools) {
    if (!isToolName(name)) {
      throw new AppError('tool_name_taken', `The tool name "${name}" is reserved.`)
    }
    if (taken.has(name)) {
      const whose = SKILL_TOOLS.includes(name) ? 'a tool of the service' : 'another tool of yours'
      throw new AppError('tool_name_taken', `The tool name "${name}" is the name of ${whose}.`)
    }
    taken.add(name)
    checkSchema(name, inputSchema)
  }
}
