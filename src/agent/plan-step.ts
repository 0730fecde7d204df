import { type CatalogOptions, type RenderedCatalog, renderCatalog } from '../domain/catalog.ts'
import { type Finders, rankOffered } from '../registry/rank-offered.ts'
import type { Registry } from '../registry/registry.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import type { SkillStore } from '../store/skills.ts'
import { loadsIn } from './loads.ts'
import type { Message, ModelRequest } from './model.ts'
import { type Policy, policyOf } from './policy.ts'
import { DEFAULT_INSTRUCTIONS, systemPrompt } from './prompt.ts'
import { requestText } from './request-text.ts'
import type { AllowedToolsMode, Settings } from './settings.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import { loadSkill } from './tools/load-skill.ts'
import { readSkillFile } from './tools/read-skill-file.ts'
import { searchSkills } from './tools/search-skills.ts'

/** Everything that one model call is made with, computed anew from the history and the registry. */
export interface StepPlan {
  request: Omit<ModelRequest, 'messages' | 'signal'>
  toolbox: { policy: Policy; ours: readonly Tool[]; callers: readonly ToolDefinition[] }
  offer: Snapshot
  catalog: RenderedCatalog
}

export interface PlanParts extends Finders {
  registry: Pick<Registry, 'snapshot'>
  skills: Pick<SkillStore, 'find' | 'readFile' | 'rank'>
  defaults: {
    allowedToolsMode: AllowedToolsMode
    catalogMaxTokens: number
    catalogTags: boolean
    maxOutputTokens: number
  }
}

/** The catalog is read for each call: a skill written a moment ago is on offer, or gone. */
export async function planStep(
  parts: PlanParts,
  settings: Settings,
  messages: readonly Message[],
): Promise<StepPlan> {
  const { registry, skills, meanings, defaults } = parts
  const offer = (await registry.snapshot()).narrow(settings.skills)
  const catalog = await catalogFor(messages, offer, settings, parts)
  const loads = loadsIn(messages)
  const policy = policyOf(settings.allowedToolsMode ?? defaults.allowedToolsMode, loads.values())
  const surroundings = { skills, offer, loads }
  const none = offer.entries.length === 0
  const ours = none ? [] : [loadSkill(surroundings), readSkillFile(surroundings)]
  if (!isWhole(catalog))
    ours.push(searchSkills({ skills, meanings, offer, filter: settings.skills }))
  return {
    request: {
      system: systemPrompt(settings.instructions ?? DEFAULT_INSTRUCTIONS, none ? '' : catalog.text),
      tools: policy.narrow([...settings.tools, ...ours]),
      temperature: settings.temperature,
      maxOutputTokens: settings.maxOutputTokens ?? defaults.maxOutputTokens,
    },
    toolbox: { policy, ours, callers: settings.tools },
    offer,
    catalog,
  }
}

/** Where not all lines fit, those stay that match what the conversation began with. */
async function catalogFor(
  messages: readonly Message[],
  { entries, revision }: Snapshot,
  settings: Settings,
  { skills, meanings, defaults }: Omit<PlanParts, 'registry'>,
): Promise<RenderedCatalog> {
  const options: CatalogOptions = {
    format: 'list',
    tags: defaults.catalogTags,
    maxTokens: defaults.catalogMaxTokens,
  }
  const plain = renderCatalog(entries, options)
  if (isWhole(plain)) return plain
  const finders = { skills, meanings }
  // The prompt keeps its bytes while no skill is written, whatever becomes of the endpoint.
  const keptAs = `revision ${revision}`
  const ranking = await rankOffered(finders, requestText(messages), settings.skills, { keptAs })
  return ranking.length === 0 ? plain : renderCatalog(entries, { ...options, ranking })
}

const isWhole = ({ offered, omitted }: RenderedCatalog): boolean =>
  omitted.length === 0 && offered.every(({ shown }) => shown === 'full')
