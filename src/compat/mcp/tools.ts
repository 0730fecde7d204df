import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Tool as ToolOnWire,
} from '@modelcontextprotocol/server'
import { misfit } from '../../agent/input-schema.ts'
import { toUse } from '../../agent/loads.ts'
import { type Tool, ToolError, type ToolInput, type ToolOutput } from '../../agent/tool.ts'
import { loadOf, loadSkill } from '../../agent/tools/load-skill.ts'
import { readSkillFile } from '../../agent/tools/read-skill-file.ts'
import { searchSkills } from '../../agent/tools/search-skills.ts'
import { AppError } from '../../errors.ts'
import type { Finders } from '../../registry/rank-offered.ts'
import type { Registry } from '../../registry/registry.ts'
import type { SkillStore } from '../../store/skills.ts'
import { addSkill } from './add-skill.ts'
import type { Caller } from './caller.ts'
import type { CountUse } from './count-use.ts'

export interface ToolParts extends Finders {
  skills: Pick<SkillStore, 'find' | 'readFile' | 'rank'>
  registry: Pick<Registry, 'snapshot' | 'publish' | 'unpack'>
  countUse: CountUse
}

type OwnTool = Pick<Tool, 'name' | 'description' | 'inputSchema' | 'run'>

/** The tools of a chat, for clients that do not know the extension, and one that writes. */
async function toolsFor(parts: ToolParts, caller: Caller, input: ToolInput): Promise<OwnTool[]> {
  const { skills, meanings, registry } = parts
  const offer = await registry.snapshot()
  const everLoaded = new Map()
  // Between two calls nothing is known of what the context holds: each load brings the body.
  return [
    loadSkill({ skills, offer, loads: new Map(), everLoaded }),
    readSkillFile({ skills, offer, loads: await hiddenOne(skills, input.skill) }),
    searchSkills({ skills, meanings, offer, filter: { names: null, tags: null } }),
    ...(caller.mayWrite ? [addSkill(registry, caller)] : []),
  ]
}

/** A skill that a person may have brought in by its prompt, which lists its files. */
async function hiddenOne(skills: Pick<SkillStore, 'find'>, name: unknown) {
  const skill = typeof name === 'string' ? await skills.find(name) : undefined
  if (!skill?.hidden || !skill.enabled || skill.version === null) return new Map()
  const { load } = loadOf({ ...skill, version: skill.version }, { before: undefined })
  return new Map([[skill.name, load]])
}

export async function listTools(parts: ToolParts, caller: Caller): Promise<ToolOnWire[]> {
  const tools = await toolsFor(parts, caller, {})
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: name !== 'add_skill', openWorldHint: false },
  }))
}

/** What is wrong with a call is told to the model, as a result; throws where there is no such tool. */
export async function callTool(
  parts: ToolParts,
  caller: Caller,
  { name, arguments: input = {} }: { name: string; arguments?: ToolInput | undefined },
  signal: AbortSignal,
): Promise<CallToolResult> {
  const tool = (await toolsFor(parts, caller, input)).find((one) => one.name === name)
  if (!tool) {
    const what = `There is no tool named "${name.slice(0, 64)}".`
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, what)
  }
  const wrong = misfit(name, tool.inputSchema, input)
  if (wrong) return toResult(`The arguments do not fit: ${wrong}`, true)
  try {
    const output = await tool.run(input, { signal, conversationId: '', callId: '' })
    await parts.countUse(useOf(output), caller.owner)
    return toResult(output.text)
  } catch (error) {
    if (error instanceof ToolError) return toResult(error.message, true)
    if (error instanceof AppError && error.status < 500) return toResult(textOf(error), true)
    throw error
  }
}

const useOf = ({ load, use }: ToolOutput) =>
  load ? toUse(load, 0) : use ? { ...use, step: 0 } : undefined

const toResult = (text: string, isError = false): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError && { isError }),
})

/** Every fault, with its code and its place, for the model to mend them all. */
function textOf({ code, message, errors }: AppError): string {
  if (!errors) return `${message} (${code})`
  return errors
    .map(({ code: one, message: what, file, line }) => {
      const place = [file, line].filter((part) => part !== undefined).join(':')
      return `${place === '' ? '' : `${place}: `}${what} (${one})`
    })
    .join('\n')
}
