import type { TurnResource } from '../http/turn-resource.ts'
import type { ChatEvent } from './chat-events.ts'
import { count, oneLine, plain, type Terminal } from './terminal.ts'

const MAX_SHOWN = 100

/**
 * Shows a turn while it runs: what the agent says on standard output, what it does on standard
 * error. Resolves to the turn as it ended.
 */
export async function showTurn(
  { output, note, paintNote }: Terminal,
  events: AsyncIterable<ChatEvent>,
): Promise<TurnResource | undefined> {
  let inLine = false
  const say = (text: string) => {
    if (text === '') return
    output.write(text)
    inLine = !text.endsWith('\n')
  }
  const act = (line: string) => {
    if (inLine) say('\n')
    note(line)
  }

  try {
    for await (const event of events) {
      if (event.type === 'text.delta') say(plain(event.text))
      else if (event.type === 'skill.loaded') act(paintNote('cyan', toLoadLine(event)))
      else if (event.type === 'tool.called' && event.name !== 'load_skill') {
        act(paintNote('dim', `→ ${toCallLine(event)}`))
      } else if (event.type === 'tool.finished' && event.is_error) {
        act(paintNote('yellow', `✗ ${oneLine(event.name)}: ${shorten(event.output)}`))
      } else if (event.type === 'turn.finished') return event
    }
  } finally {
    if (inLine) say('\n')
  }
  return undefined
}

type Loaded = TurnResource['receipt']['loaded'][number]

function toLoadLine({ name, version, tokens, repeat }: Loaded): string {
  const cost = repeat ? 'there already' : count(tokens, 'token')
  return `→ load_skill ${name} (v${version}, ${cost})`
}

/** A call, as it is shown to whoever may have to approve it; `whole` cuts nothing. */
export function toCallLine(
  { name, input }: { name: string; input: unknown },
  whole = false,
): string {
  const text = JSON.stringify(input) ?? ''
  return `${oneLine(name)} ${whole ? oneLine(text) : shorten(text)}`
}

function shorten(text: string): string {
  const characters = [...oneLine(text)]
  if (characters.length <= MAX_SHOWN) return characters.join('')
  return `${characters.slice(0, MAX_SHOWN).join('')}…`
}
