import { type LoadMark, loadOn, markLoad } from '../loads.ts'
import type { Message, ToolResult } from '../model.ts'
import { plainText } from './reference.ts'

type UserMessage = Extract<Message, { role: 'user' }>
export type TextPart = Extract<UserMessage['content'][number], { type: 'text' }>

/** The text of a skill, where it came into the conversation. */
export interface Body {
  /** The message's. */
  index: number
  part: TextPart | ToolResult
  load: LoadMark
}

/** Oldest first. A load that only pointed at an earlier one has no body. */
export function bodiesIn(messages: readonly Message[]): Body[] {
  const bodies: Body[] = []
  messages.forEach(({ role, content }, index) => {
    if (role !== 'user' && role !== 'tool') return
    for (const part of content) {
      if (part.type !== 'text' && part.type !== 'tool-result') continue
      const load = isMarked(part) ? loadOn(part) : undefined
      if (load && !load.repeat) bodies.push({ index, part, load })
    }
  })
  return bodies
}

const isMarked = ({ providerOptions }: Body['part']): boolean =>
  providerOptions?.loadskill !== undefined

/** As a part of a user's message, marked as the load that it is. */
export const toTextPart = ({ part, load }: Body): TextPart =>
  part.type === 'text'
    ? part
    : { type: 'text', text: plainText(part) ?? '', providerOptions: markLoad(load) }
