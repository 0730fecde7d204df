import { type RenderedCatalog, renderCatalog } from '../domain/catalog.ts'
import type { Registry } from '../registry/registry.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import type { SkillStore } from '../store/skills.ts'
import { loadsIn } from './loads.ts'
import type { Message, ModelRequest } from './model.ts'
import { type Policy, policyOf } from './policy.ts'
import { DEFAULT_INSTRUCTIONS, systemPrompt } from './prompt.ts'
import type { AllowedToolsMode, Settings } from './settings.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import { loadSkill } from './tools/load-skill.ts'
import { readSkillFile } from './tools/read-skill-file.ts'

/** Everything that one model call is made with, computed anew from the history and the registry. */
export interface StepPlan {
  request: Omit<ModelRequest, 'messages' | 'signal'>
  toolbox: { policy: Policy; ours: readonly Tool[]; callers: readonly ToolDefinition[] }
  offer: Snapshot
  catalog: RenderedCatalog
}

export interface PlanParts {
  registry: Pick<Registry, 'snapshot'>
  skills: Pick<SkillStore, 'find' | 'readFile'>
  defaults: {
    allowedToolsMode: AllowedToolsMode
    catalogMaxTokens: number
    catalogTags: boolean
    maxOutputTokens: number
  }
}

/** The catalog is read for each call: a skill written a moment ago is on offer, or gone. */
export async function planStep(
  { registry, skills, defaults }: PlanParts,
  settings: Settings,
  messages: readonly Message[],
): Promise<StepPlan> {
  const offer = (await registry.snapshot()).narrow(settings.skills)
  const catalog = renderCatalog(offer.entries, {
    format: 'list',
    tags: defaults.catalogTags,
    maxTokens: defaults.catalogMaxTokens,
  })
  const loads = loadsIn(messages)
  const policy = policyOf(settings.allowedToolsMode ?? defaults.allowedToolsMode, loads.values())
  const surroundings = { skills, offer, loads }
  const none = offer.entries.length === 0
  const ours = none ? [] : [loadSkill(surroundings), readSkillFile(surroundings)]
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
