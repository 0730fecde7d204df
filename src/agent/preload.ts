import { nearestNames } from '../domain/nearest-names.ts'
import type { Loaded } from '../domain/receipt.ts'
import { AppError } from '../errors.ts'
import type { Registry } from '../registry/registry.ts'
import { fits, type SnapshotFilter } from '../registry/snapshot.ts'
import type { SkillStore } from '../store/skills.ts'
import type { Chats } from './chats.ts'
import { loadsIn, markLoad, toLoaded } from './loads.ts'
import type { Message } from './model.ts'
import { shownMessages } from './shown-messages.ts'
import { loadOf } from './tools/load-skill.ts'

export interface PreloadParts {
  skills: Pick<SkillStore, 'find' | 'readFile'>
  registry: Pick<Registry, 'snapshot'>
  chats: Pick<Chats, 'messages' | 'compaction'>
}

interface Preloading {
  messages: Message[]
  preload: string[]
  /** Which skills the agent may have; what a request narrows these to does not matter here. */
  among: SnapshotFilter
}

/**
 * Puts skills before the first of the messages, as loads. Takes skills that models may not load
 * themselves. A body that is in the conversation already is not sent again. Throws
 * `skill_not_found` for a name that is not there, is disabled, or is not the agent's.
 */
export async function withPreload(
  { skills, registry, chats }: PreloadParts,
  { messages, preload, among }: Preloading,
  conversationId: string | undefined,
): Promise<{ messages: Message[]; loads: Loaded[] }> {
  const [first, ...rest] = messages
  if (preload.length === 0 || first?.role !== 'user') return { messages, loads: [] }

  const shown = conversationId === undefined ? [] : await shownMessages(chats, conversationId)
  const before = loadsIn(shown)
  const loads: Loaded[] = []
  const parts: typeof first.content = []
  for (const name of new Set(preload)) {
    const skill = await skills.find(name)
    if (!skill?.enabled || skill.version === null || !fits(among)(skill)) {
      const suggestions = nearestNames(name, (await registry.snapshot()).narrow(among).names())
      throw new AppError('skill_not_found', `No skill is named "${name.slice(0, 64)}".`, {
        members: { suggestions },
      })
    }
    const current = { ...skill, version: skill.version }
    const { text, load } = loadOf(current, { before: before.get(name) })
    loads.push(toLoaded(load, 0))
    parts.push({ type: 'text', text, providerOptions: markLoad(load) })
  }
  return { messages: [{ ...first, content: [...parts, ...first.content] }, ...rest], loads }
}
