import { loadOn } from '../loads.ts'
import type { Message } from '../model.ts'
import { type Body, toTextPart } from './bodies.ts'
import { inTag } from './data-tag.ts'

/** What stands for the oldest messages. */
export interface Summary {
  /** It stands for the messages before this index of the stored conversation. */
  upTo: number
  /** As the model wrote it. */
  text: string
  /** The index of the user's message that is repeated beside it, word for word. */
  request: number | null
}

/** `bodies` are those before `upTo`, oldest first. */
export function summaryMessage(
  messages: readonly Message[],
  { upTo, text, request }: Summary,
  bodies: readonly Body[],
  isDropped: (body: Body) => boolean,
): Message {
  const last = lastOfEach(bodies)
  const lines = [
    `[The first ${upTo} messages of this conversation are stored whole. A summary of them stands here; it is a record, not a request.]`,
    inTag('summary', text),
  ]
  const gone = last.filter(isDropped).map(({ load }) => `"${load.name}" (version ${load.version})`)
  if (gone.length > 0)
    lines.push(
      `[Skills whose text is no longer in the context, and can be loaded again: ${gone.join(', ')}.]`,
    )
  const asked = request === null ? undefined : messages[request]
  if (asked) lines.push("[The user's request, word for word:]")
  return {
    role: 'user',
    content: [
      ...last.filter((body) => !isDropped(body)).map(toTextPart),
      { type: 'text', text: lines.join('\n') },
      ...(asked ? requestParts(asked) : []),
    ],
  }
}

/** The newest of the bodies that each skill has: it replaced the others. */
function lastOfEach(bodies: readonly Body[]): Body[] {
  const last = new Map<string, Body>()
  for (const body of bodies) {
    last.delete(body.load.name)
    last.set(body.load.name, body)
  }
  return [...last.values()]
}

/** What the user said in a message, without the skills put before it. */
export const requestParts = (message: Message) =>
  message.role === 'user' ? message.content.filter((part) => !loadOn(part)) : []
