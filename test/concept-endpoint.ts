import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Answer } from './agent/fake-provider.ts'
import { until } from './run-service.ts'

/** Words that mean about the same: a dimension each. */
const CONCEPTS = [
  /\b(tea|beverage|brew\w*|thirst\w*)\b/gi,
  /\b(invoice\w*|billing|payment\w*)\b/gi,
  /\b(bridge\w*|viaduct\w*)\b/gi,
  /\b(garden\w*|horticulture|plants?)\b/gi,
]

export const conceptVector = (text: string): number[] =>
  CONCEPTS.map((words) => text.match(words)?.length ?? 0)

interface Asked {
  url: string | undefined
  headers: IncomingHttpHeaders
  model: string
  input: string[]
}

/** An OpenAI-compatible embeddings server whose vectors tell which concepts a text speaks of. */
export async function conceptEndpoint(t: TestContext) {
  const asked: Asked[] = []
  const state: { answer: Answer | undefined; refuse: (input: string[]) => boolean } = {
    answer: undefined,
    refuse: () => false,
  }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    asked.push({ url: request.url, headers: request.headers, ...body })
    if (state.answer) return state.answer(response)
    if (state.refuse(body.input)) return void response.writeHead(400).end('CANARY')
    sendVectors(response, body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const texts = () => asked.flatMap(({ input }) => input)
  return {
    env: { EMBEDDINGS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
    asked,
    texts,
    /** What it answers from now on; undefined: vectors. */
    answers(answer: Answer | undefined) {
      state.answer = answer
    },
    refuses(refuse: (input: string[]) => boolean) {
      state.refuse = refuse
    },
    wasAsked: (text: string) => until(() => texts().some((one) => one.includes(text))),
  }
}

/** Out of order, as floats or as their bytes. */
function sendVectors(
  response: ServerResponse,
  { input, encoding_format }: { input: string[]; encoding_format?: string },
): void {
  const data = input.map((text, index) => {
    const vector = conceptVector(text)
    const bytes = Buffer.from(new Float32Array(vector).buffer)
    const compact = encoding_format === 'base64' && index % 2 === 0
    return { object: 'embedding', index, embedding: compact ? bytes.toString('base64') : vector }
  })
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', data: data.reverse() }))
}
