import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refuse, stream } from '../agent/fake-provider.ts'
import { talk } from '../agent/talk.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { skillMd } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { complete, dataOf, weather } from './openai-chat-wire.ts'

const streamed = { stream: true }
const counted = { stream: true, stream_options: { include_usage: true } }

suite('a completion as a stream', { concurrency: 2 }, () => {
  test('has these bytes', async (t) => {
    const { app } = await talk(t, [{ text: 'Hel lo', ...call('get_weather', { city: 'Oslo' }) }])
    const response = await complete(app, { ...counted, tools: [weather] })
    assert.equal(response.headers['content-type'], 'text/event-stream')
    const lines = dataOf(response.body)
    const { id, created } = JSON.parse(lines[0] ?? '')
    assert.match(id, /^chatcmpl-[0-9a-f]{32}$/)
    assert.ok(Number.isInteger(created))
    const head = `{"id":"${id}","object":"chat.completion.chunk","created":${created},"model":"default"`
    const chunk = (delta: string, finish = 'null') =>
      `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null`
    const callId = JSON.parse(lines[3] ?? '').choices[0].delta.tool_calls[0].id
    assert.match(callId, /^call_[0-9a-f]{32}$/)
    const { loadskill } = JSON.parse(lines[5] ?? '')
    assert.equal(loadskill.turn_id, response.headers['x-turn-id'])
    assert.equal(loadskill.conversation_id, response.headers['x-conversation-id'])
    assert.deepEqual(loadskill.receipt.loaded, [])
    assert.deepEqual(lines, [
      `${chunk('{"role":"assistant","content":""}')}}`,
      `${chunk('{"content":"Hel "}')}}`,
      `${chunk('{"content":"lo"}')}}`,
      `${chunk(`{"tool_calls":[{"index":0,"id":"${callId}","type":"function","function":{"name":"get_weather","arguments":""}}]}`)}}`,
      `${chunk('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"city\\":\\"Oslo\\"}"}}]}')}}`,
      `${chunk('{}', '"tool_calls"')},"loadskill":${JSON.stringify(loadskill)}}`,
      `${head},"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":3,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":5}}}`,
      '[DONE]',
    ])
  })

  test('says nothing of usage where nobody asked', async (t) => {
    const { app } = await talk(t, [say('Done.')])
    const response = await complete(app, streamed)
    assert.doesNotMatch(response.body, /"usage":/)
    assert.equal(dataOf(response.body).at(-1), '[DONE]')
  })

  test('shows the texts of all steps, and none of our calls', async (t) => {
    const skills = [skillMd('greet')]
    const { app } = await talk(t, [{ text: 'One.', ...load('greet') }, say('Two.')], { skills })
    const response = await complete(app, streamed)
    const chunks = dataOf(response.body).slice(0, -1)
    const deltas = chunks.map((line) => JSON.parse(line).choices[0].delta)
    assert.equal(deltas.map(({ content = '' }) => content).join(''), 'One.\n\nTwo.')
    assert.ok(deltas.every((delta) => !('tool_calls' in delta)))
    const last = JSON.parse(chunks.at(-1) ?? '')
    assert.equal(last.choices[0].finish_reason, 'stop')
    assert.equal(last.loadskill.receipt.loaded[0].name, 'greet')
  })

  test('that fails before it began is an HTTP error', async (t) => {
    const { app } = await talk(t, [refuse(400)])
    const response = await complete(app, streamed)
    assert.equal(response.statusCode, 502)
    assert.equal(response.json().error.type, 'server_error')
    assert.doesNotMatch(response.body, /CANARY/)
  })

  test('that fails later ends with the error, and reads as cut', async (t) => {
    const cut = [messageStart, ...textBlock(0, 'Half')]
    const error = { type: 'error', error: { type: 'api_error', message: 'CANARY' } }
    const { app } = await talk(t, [stream([...cut, error])])
    const response = await complete(app, counted)
    assert.equal(response.statusCode, 200)
    const lines = dataOf(response.body)
    assert.doesNotMatch(response.body, /CANARY|\[DONE\]|"finish_reason":"/)
    assert.deepEqual(JSON.parse(lines.at(-1) ?? ''), {
      error: {
        message: "The model's provider answered with status 500.",
        type: 'server_error',
        param: null,
        code: 'model_error',
      },
    })
  })
})
