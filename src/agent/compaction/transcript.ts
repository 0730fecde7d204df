import { loadOn } from '../loads.ts'
import type { Message } from '../model.ts'
import { cutEnd } from './cut-text.ts'
import { plainText } from './reference.ts'

const INPUT_CHARACTERS = 500
const RESULT_CHARACTERS = 1500

type Part = Exclude<Message['content'], string>[number]

/** A conversation to read: who said what, which calls were made, what came of them. */
export const toTranscript = (messages: readonly Message[]): string =>
  messages.flatMap(toLines).join('\n\n')

function toLines({ role, content }: Message): string[] {
  if (typeof content === 'string') return []
  return content.map((part) => toLine(role, part)).filter((line) => line !== '')
}

function toLine(role: Message['role'], part: Part): string {
  const load = 'providerOptions' in part ? loadOn(part) : undefined
  if (load) return `[The skill "${load.name}" (version ${load.version}) was loaded.]`
  switch (part.type) {
    case 'text':
      return `${role === 'user' ? 'User' : 'Assistant'}: ${part.text}`
    case 'tool-call': {
      const input = cutEnd(JSON.stringify(part.input) ?? '', INPUT_CHARACTERS)
      return `Call ${part.toolCallId} of ${part.toolName}: ${input}`
    }
    case 'tool-result': {
      const failed = part.output.type.startsWith('error') ? 'Error' : 'Result'
      const text = plainText(part) ?? JSON.stringify(part.output)
      return `${failed} of call ${part.toolCallId}: ${cutEnd(text, RESULT_CHARACTERS)}`
    }
    default:
      return ''
  }
}
