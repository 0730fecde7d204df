import { Pool } from 'undici'
import { LOAD_SKILL, loadSkill, MESSAGE, SYSTEM } from './scene.mjs'

let pool

/** Nothing but the wire: what any loop costs at least. */
export async function turn(url) {
  pool ??= new Pool(url, { connections: 64 })
  const messages = [{ role: 'user', content: MESSAGE }]
  for (;;) {
    const content = await ask({
      model: 'test',
      max_tokens: 1000,
      stream: true,
      system: SYSTEM,
      messages,
      tools: [
        {
          name: LOAD_SKILL.name,
          description: LOAD_SKILL.description,
          input_schema: {
            type: 'object',
            properties: { name: { type: 'string', description: LOAD_SKILL.parameter } },
            required: ['name'],
          },
        },
      ],
    })
    messages.push({ role: 'assistant', content })
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return content.map(({ text = '' }) => text).join('')
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: loadSkill(input.name),
    }))
    messages.push({ role: 'user', content: results })
  }
}

async function ask(request) {
  const { body } = await pool.request({
    method: 'POST',
    path: '/v1/messages',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key' },
    body: JSON.stringify(request),
  })
  const blocks = []
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const line = text.slice(0, end).split('\n').at(-1)
      text = text.slice(end + 2)
      read(JSON.parse(line.slice('data: '.length)), blocks)
    }
  }
  return blocks.map(({ json, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(json) } : block,
  )
}

function read({ type, index, content_block: block, delta }, blocks) {
  if (type === 'content_block_start') blocks[index] = { ...block, json: '' }
  if (delta?.type === 'text_delta') blocks[index].text += delta.text
  if (delta?.type === 'input_json_delta') blocks[index].json += delta.partial_json
}
