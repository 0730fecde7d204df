import { AppError, type ErrorCode } from '../../errors.ts'
import type { Problem } from '../../http/problem.ts'
import type { TurnResource } from '../../http/turn-resource.ts'
import type { Answer } from '../../store/idempotency.ts'
import { type Ending, endingOf } from './completion.ts'

/** How a turn ended before; throws what it failed with. */
export function readKept({ status, body }: Answer): TurnResource {
  if (status !== 200) {
    const { code, detail = '' }: Problem & { code: ErrorCode } = JSON.parse(body ?? '{}')
    throw new AppError(code, detail, { status })
  }
  return JSON.parse(body ?? '{}')
}

/** Says it once more. */
export async function* replayed(turn: TurnResource): AsyncGenerator<string, Ending, void> {
  const texts = turn.messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  const text = texts.filter((said) => said !== '').join('\n\n')
  if (text !== '') yield text
  return endingOf(turn)
}
