import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { toUse } from '../../agent/loads.ts'
import { loadOf } from '../../agent/tools/load-skill.ts'
import { nearestNames } from '../../domain/nearest-names.ts'
import type { Skill } from '../../domain/skill.ts'
import type { Registry } from '../../registry/registry.ts'
import type { SkillStore } from '../../store/skills.ts'
import type { Caller } from './caller.ts'
import type { CountUse } from './count-use.ts'
import { skillPage } from './skill-page.ts'

export interface PromptParts {
  skills: Pick<SkillStore, 'list' | 'find'>
  registry: Pick<Registry, 'snapshot'>
  countUse: CountUse
}

/** A prompt for each skill that people may call by its name, also where models may not. */
export async function listPrompts(
  { skills }: PromptParts,
  cursor: string | undefined,
): Promise<ListPromptsResult> {
  const { data, next } = await skillPage(skills, 'prompts', cursor)
  const prompts = data
    .filter((skill) => skill.version !== null && isForPeople(skill))
    .map(({ name, title, description, extra }) => ({
      name,
      ...(title !== null && { title }),
      description,
      arguments: [{ name: 'request', description: hintIn(extra), required: false }],
    }))
  return { prompts, ...next }
}

/** The skill's text as `load_skill` gives it, and behind it what it is called for. */
export async function getPrompt(
  { skills, registry, countUse }: PromptParts,
  { owner }: Caller,
  name: string,
  { request = '' }: { request?: string } = {},
): Promise<GetPromptResult> {
  const skill = await skills.find(name)
  if (!skill?.enabled || skill.version === null || !isForPeople(skill)) {
    const nearest = nearestNames(name, (await registry.snapshot()).names())
    const hint = nearest.length > 0 ? ` The nearest names: ${nearest.join(', ')}.` : ''
    const what = `There is no skill named "${name.slice(0, 64)}".${hint}`
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, what)
  }
  const { text, load } = loadOf({ ...skill, version: skill.version }, { before: undefined })
  await countUse(toUse(load, 0), owner)
  const whole = request === '' ? text : `${text}\n\n${request}`
  return {
    description: skill.description,
    messages: [{ role: 'user', content: { type: 'text', text: whole } }],
  }
}

/** `user-invocable` as Claude Code has it, or as it is often misspelled. */
const isForPeople = ({ extra }: Pick<Skill, 'extra'>): boolean =>
  !['user-invocable', 'user-invokable'].some((key) => String(extra[key]).toLowerCase() === 'false')

const hintIn = (extra: Skill['extra']): string => {
  const hint = extra['argument-hint']
  return typeof hint === 'string' && hint !== '' ? hint : 'What to use the skill for'
}
