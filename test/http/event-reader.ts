import type { TestApp } from '../build-app.ts'

export interface Event {
  id: number
  event: string
  data: Record<string, unknown>
}

/** Where the service listens: a real socket, which `inject` is not. */
export async function listen(app: TestApp): Promise<string> {
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/v1`
}

export const stream = (url: string, body: object, signal?: AbortSignal) =>
  fetch(`${url}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal && { signal }),
  })

/** Every event of a stream, as it comes. */
async function* eventsOf({ body }: Response): AsyncGenerator<Event, void, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [id = '', event = '', data = '', ...more] = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      if (id.startsWith(':')) continue
      if (more.length > 0) throw new Error(`There are more than three lines: ${more}`)
      yield {
        id: Number(id.replace(/^id: /, '')),
        event: event.replace(/^event: /, ''),
        data: JSON.parse(data.replace(/^data: /, '')),
      }
    }
  }
  if (text !== '') throw new Error(`The stream broke off: ${text}`)
}

export async function allOf(response: Response): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of eventsOf(response)) events.push(event)
  return events
}
