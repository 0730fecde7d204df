import { type CatalogOptions, type RenderedCatalog, renderCatalog } from '../domain/catalog.ts'
import { type Finders, rankOffered } from '../registry/rank-offered.ts'
import type { Registry } from '../registry/registry.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import type { SkillTokens } from '../store/chats.ts'
import type { SkillStore } from '../store/skills.ts'
import type { Toolbox } from './answer-call.ts'
import { type LoadMark, loadsIn } from './loads.ts'
import type { Message, ModelRequest } from './model.ts'
import { policyOf } from './policy.ts'
import { systemPrompt } from './prompt.ts'
import type { Setup } from './setup.ts'
import type { Tool, ToolSource, ToolStep } from './tool.ts'
import { loadSkill } from './tools/load-skill.ts'
import { readSkillFile } from './tools/read-skill-file.ts'
import { searchSkills } from './tools/search-skills.ts'

/** Everything that one model call is made with, computed anew from the history and the registry. */
export interface StepPlan {
  request: Omit<ModelRequest, 'messages' | 'signal'>
  toolbox: Toolbox
  offer: Snapshot
  catalog: RenderedCatalog
  tokens: SkillTokens
}

export interface PlanParts extends Finders {
  registry: Pick<Registry, 'snapshot'>
  skills: Pick<SkillStore, 'find' | 'readFile' | 'rank'>
  /** Tools of the service besides those of skills. */
  tools: ToolSource
}

/** What a step is planned for. */
export interface Planned {
  conversationId: string
  setup: Setup
  /** What the conversation is about. */
  about: string
  /** The skills whose bodies were in the context at any time. */
  everLoaded: ReadonlyMap<string, LoadMark>
}

/**
 * The catalog is read for each call: a skill written a moment ago is on offer, or gone. `messages`
 * are those that the model is shown.
 */
export async function planStep(
  parts: PlanParts,
  { conversationId, setup, about, everLoaded }: Planned,
  messages: readonly Message[],
): Promise<StepPlan> {
  const offer = (await parts.registry.snapshot()).narrow(setup.skills)
  const catalog = await catalogFor(about, offer, setup, parts)
  const loads = loadsIn(messages)
  const policy = policyOf({
    mode: setup.allowedToolsMode,
    loads: loads.values(),
    asksFor: setup.asksFor,
  })
  const ours = [
    ...(await toolsOf(parts.tools, setup, { conversationId, loads })),
    ...skillTools(parts, setup, { offer, loads, everLoaded, whole: isWhole(catalog) }),
  ]
  const none = offer.entries.length === 0
  return {
    request: {
      system: systemPrompt(setup.instructions, none ? '' : catalog.text, setup.afterCatalog),
      tools: policy.narrow([...setup.callers, ...ours]),
      temperature: setup.temperature,
      maxOutputTokens: setup.maxOutputTokens,
    },
    toolbox: { policy, ours, callers: setup.callers, approvable: setup.approvable },
    offer,
    catalog,
    tokens: {
      catalog: none ? 0 : catalog.tokens,
      bodies: [...loads.values()].reduce((sum, { tokens }) => sum + tokens, 0),
      inlined: offer.entries.reduce((sum, entry) => sum + entry.tokens.body, 0),
    },
  }
}

/** Those that the agent has. A caller that has one of the same name brought it before ours was there. */
async function toolsOf(
  { tools }: ToolSource,
  { hasTool, callers }: Setup,
  step: ToolStep,
): Promise<Tool[]> {
  const taken = new Set(callers.map(({ name }) => name))
  return (await tools(step)).filter(({ name }) => hasTool(name) && !taken.has(name))
}

interface SkillStep extends Pick<ToolStep, 'loads'>, Pick<Planned, 'everLoaded'> {
  offer: Snapshot
  /** Whether the catalog shows all of it. */
  whole: boolean
}

function skillTools({ skills, meanings }: PlanParts, setup: Setup, step: SkillStep): Tool[] {
  const { offer, loads, everLoaded, whole } = step
  if (offer.entries.length === 0) return []
  const surroundings = { skills, offer, loads }
  const tools = [loadSkill({ ...surroundings, everLoaded }), readSkillFile(surroundings)]
  if (!whole) tools.push(searchSkills({ skills, meanings, offer, filter: setup.skills }))
  return tools
}

/** Where not all lines fit, those stay that match what the conversation is about. */
async function catalogFor(
  about: string,
  { entries, revision }: Snapshot,
  { catalogMaxTokens, catalogTags, skills: filter }: Setup,
  { skills, meanings }: Finders,
): Promise<RenderedCatalog> {
  const options: CatalogOptions = {
    format: 'list',
    tags: catalogTags,
    maxTokens: catalogMaxTokens,
  }
  const plain = renderCatalog(entries, options)
  if (isWhole(plain)) return plain
  // The prompt keeps its bytes while no skill is written, whatever becomes of the endpoint.
  const keptAs = `revision ${revision}`
  const ranking = await rankOffered({ skills, meanings }, about, filter, { keptAs })
  return ranking.length === 0 ? plain : renderCatalog(entries, { ...options, ranking })
}

const isWhole = ({ offered, omitted }: RenderedCatalog): boolean =>
  omitted.length === 0 && offered.every(({ shown }) => shown === 'full')
