import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Loaded } from '../domain/receipt.ts'
import type { SkillUse } from '../store/skill-uses.ts'
import type { Message, ToolResult } from './model.ts'

/** What a load put into the context, kept on the message part that carries the body. */
export type LoadMark = Static<typeof LoadMark>
const LoadMark = Type.Object({
  name: Type.String(),
  version: Type.Integer(),
  digest: Type.String(),
  tokens: Type.Integer(),
  repeat: Type.Boolean(),
  /** The skill's allowed-tools at that version. */
  allowedTools: Type.Union([Type.Array(Type.String()), Type.Null()]),
})

const isLoadMark = Compile(LoadMark)

type Part = Pick<ToolResult, 'providerOptions'>

/** As a part's provider options: the vendors pass over what is not theirs. */
export const markLoad = (load: LoadMark): Part['providerOptions'] => ({ loadskill: { load } })

export function loadOn({ providerOptions }: Part): LoadMark | undefined {
  const load = providerOptions?.loadskill?.load
  return load !== undefined && isLoadMark.Check(load) ? load : undefined
}

/**
 * The skills whose bodies are among the messages, by name, as last loaded. Read off what is sent
 * to the model, so that it holds after a restart and once older messages are left out.
 */
export function loadsIn(messages: Iterable<Message>): Map<string, LoadMark> {
  const loads = new Map<string, LoadMark>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      const load = loadOn(part)
      if (load && !load.repeat) loads.set(load.name, load)
    }
  }
  return loads
}

/** As the receipt tells it; step 0 is before the first one. */
export const toLoaded = (load: LoadMark, step: number): Loaded => ({
  name: load.name,
  version: load.version,
  digest: load.digest,
  tokens: load.tokens,
  step,
  repeat: load.repeat,
})

export const toUse = (load: Omit<Loaded, 'step' | 'digest'>, step: number): SkillUse => ({
  skill: load.name,
  version: load.version,
  kind: load.repeat ? 'repeat' : 'load',
  tokens: load.tokens,
  step,
})
