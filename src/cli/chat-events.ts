import { TextDecoderStream } from 'node:stream/web'
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream'
import type { Problem } from '../http/problem.ts'
import type { present } from '../http/turn-events.ts'
import type { Client } from './client.ts'
import { EXIT, Failure } from './failure.ts'
import { describeProblem, Refusal } from './refusal.ts'

type EventOf<Events> = Events extends AsyncGenerator<infer Event> ? Event : never
export type ChatEvent = EventOf<ReturnType<typeof present>>

/** The events of one turn, as they come. Throws a Failure when it ends without its last one. */
export async function* streamTurn(client: Client, body: object): AsyncGenerator<ChatEvent> {
  const response = await client.call('/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ ...body, stream: true }),
  })
  for await (const { event = '', data } of messagesOf(response)) {
    const members: object = JSON.parse(data)
    if (event === 'error') {
      const problem = members as Problem
      throw new Refusal(EXIT.refused, describeProblem(problem, client.hasKey), problem)
    }
    yield { type: event, ...members } as ChatEvent
    if (event === 'turn.finished') return
  }
  throw new Failure(EXIT.unreachable, 'The answer ended before it was whole.')
}

async function* messagesOf({ body }: Response): AsyncGenerator<EventSourceMessage> {
  if (!body) return
  const messages = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
  try {
    yield* messages
  } catch (error) {
    // A connection that broke off; Ctrl-C is told as what it is.
    if (error instanceof Failure) throw error
    const what = 'The connection broke off in the middle of the answer.'
    throw new Failure(EXIT.unreachable, what, { cause: error })
  }
}
