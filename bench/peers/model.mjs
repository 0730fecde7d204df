import { createServer } from 'node:http'
import { ANSWER } from './scene.mjs'

/** A model that loads a skill, then answers; as Anthropic streams it. */
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const usage = { input_tokens: 300, output_tokens: 1 }
const message = () => ({
  id: `msg_${++serial}`,
  type: 'message',
  role: 'assistant',
  model: 'test',
  content: [],
  stop_reason: null,
  usage,
})
let serial = 0

function answer(block, deltas, reason) {
  return [
    { type: 'message_start', message: message() },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('')
}

const load = () =>
  answer(
    { type: 'tool_use', id: `toolu_${++serial}`, name: 'load_skill', input: {} },
    ['{"name": ', '"skill-3"}'].map((text) => ({ type: 'input_json_delta', partial_json: text })),
    'tool_use',
  )
const done = () =>
  answer(
    { type: 'text', text: '' },
    ANSWER.split(/(?<= )/).map((text) => ({ type: 'text_delta', text })),
    'end_turn',
  )

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(body.includes('"tool_result"') ? done() : load())
})
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
