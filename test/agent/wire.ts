// What the two providers stream, one JSON object an event.

export const delta = (content: object) => ({ id: '1', choices: [{ index: 0, delta: content }] })

export const finish = (finish_reason: string) => ({
  id: '1',
  choices: [{ index: 0, delta: {}, finish_reason }],
  usage: {
    prompt_tokens: 7,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 4 },
  },
})

export const toolCall = (args: string, index = 0, id = 'c1') =>
  delta({ tool_calls: [{ index, id, function: { name: 'load_skill', arguments: args } }] })

const usage = {
  input_tokens: 7,
  output_tokens: 1,
  cache_read_input_tokens: 5,
  cache_creation_input_tokens: 2,
}

export const messageStart = {
  type: 'message_start',
  message: { id: 'm', model: 'test', role: 'assistant', content: [], usage },
}

export const ping = { type: 'ping' }

const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

export const textBlock = (index: number, ...texts: string[]) =>
  block(index, { type: 'text', text: '' }, ...texts.map((text) => ({ type: 'text_delta', text })))

export const thinkingBlock = (index: number, thinking: string, signature: string) =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  )

export const toolBlock = (index: number, json: string, id = 'c1') =>
  block(
    index,
    { type: 'tool_use', id, name: 'load_skill', input: {} },
    { type: 'input_json_delta', partial_json: json },
  )

export const messageStop = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]

export const anthropicTurn = [
  messageStart,
  ...textBlock(0, 'One ', 'moment.'),
  ...toolBlock(1, '{"name":"greet"}'),
  ...messageStop('tool_use'),
]

export const openAiTurn = [
  delta({ content: 'One ' }),
  delta({ content: 'moment.' }),
  toolCall('{"name":"greet"}'),
  finish('tool_calls'),
]
