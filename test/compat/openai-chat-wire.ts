import assert from 'node:assert/strict'
import type { TestApp } from '../build-app.ts'

export const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

export const hi = { role: 'user' as const, content: 'Hi' }

export const complete = (app: TestApp, body: object, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v1/chat/completions',
    headers,
    payload: { model: 'default', messages: [hi], ...body },
  })

/** The answer as an object, which has to be one. */
export async function completed(app: TestApp, body: object) {
  const response = await complete(app, body)
  assert.equal(response.statusCode, 200, response.body)
  return { ...response.json(), headers: response.headers }
}

/** The call that an answer hands out, as the message a client sends back. */
export const messageOf = (answer: { choices: { message: object }[] }) => {
  const message = answer.choices[0]?.message
  assert.ok(message)
  return message as { tool_calls: { id: string }[]; content: string | null }
}

export const resultFor = (id: string | undefined, content: string) => ({
  role: 'tool' as const,
  tool_call_id: id ?? '',
  content,
})

/** The `data:` lines of a stream; all else in it is a comment. */
export function dataOf(stream: string): string[] {
  assert.ok(stream.endsWith('\n\n'))
  const events = stream.slice(0, -2).split('\n\n')
  for (const event of events) assert.match(event, /^(data: |: )[^\n]*$/)
  return events.filter((event) => event.startsWith('data: ')).map((event) => event.slice(6))
}

/** The service on a port of this machine. */
export const addressOf = (app: TestApp) => app.listen({ port: 0, host: '127.0.0.1' })
