import { matchesGlob } from '../domain/tool-globs.ts'
import type { SnapshotFilter } from '../registry/snapshot.ts'
import type { Agent } from './agent.ts'
import { DEFAULT_INSTRUCTIONS } from './prompt.ts'
import type { AllowedToolsMode, Settings } from './settings.ts'
import type { ToolDefinition } from './tool.ts'

/** What the service falls back to where neither the conversation nor its agent says. */
export interface Defaults {
  allowedToolsMode: AllowedToolsMode
  catalogMaxTokens: number
  catalogTags: boolean
  maxOutputTokens: number
  /** Of all that a model call is sent. */
  contextMaxTokens: number
}

/** What a turn runs with, by its agent and by what was asked for in the conversation. */
export interface Setup {
  instructions: string
  /** Null adds nothing. */
  afterCatalog: string | null
  /** Null is the configured one. */
  model: string | null
  skills: SnapshotFilter
  callers: readonly ToolDefinition[]
  hasTool(name: string): boolean
  asksFor(tool: string): boolean
  /** Whether somebody is there to approve a call; where not, calls that need it are refused. */
  approvable: boolean
  maxSteps: number
  maxOutputTokens: number
  temperature: number | null
  allowedToolsMode: AllowedToolsMode
  catalogMaxTokens: number
  catalogTags: boolean
  contextMaxTokens: number
  budget: Agent['budget']
}

/** What the conversation asks for comes first; it narrows the agent's skills and never widens them. */
export function setUp(agent: Agent, settings: Settings, defaults: Defaults): Setup {
  const { instructions, model, allowedToolsMode, maxSteps, maxOutputTokens } = settings
  const among = (globs: readonly string[]) => (name: string) =>
    globs.some((glob) => matchesGlob(glob, name))
  return {
    instructions: instructions ?? agent.instructions ?? DEFAULT_INSTRUCTIONS,
    afterCatalog: settings.afterCatalog,
    model: model ?? agent.model,
    skills: both(agent.skills, settings.skills),
    callers: settings.tools,
    hasTool: among(agent.tools),
    asksFor: among(agent.approval),
    approvable: true,
    maxSteps: maxSteps ?? agent.maxSteps,
    maxOutputTokens: maxOutputTokens ?? defaults.maxOutputTokens,
    temperature: settings.temperature,
    allowedToolsMode: allowedToolsMode ?? agent.allowedToolsMode ?? defaults.allowedToolsMode,
    catalogMaxTokens: agent.catalogMaxTokens ?? defaults.catalogMaxTokens,
    catalogTags: defaults.catalogTags,
    contextMaxTokens: defaults.contextMaxTokens,
    budget: agent.budget,
  }
}

function both(one: SnapshotFilter, other: SnapshotFilter): SnapshotFilter {
  const names =
    one.names && other.names
      ? one.names.filter((name) => other.names?.includes(name))
      : (one.names ?? other.names)
  const tags = one.tags || other.tags ? [...(one.tags ?? []), ...(other.tags ?? [])] : null
  return { names, tags }
}
