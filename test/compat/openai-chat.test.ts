import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { talk } from '../agent/talk.ts'
import { buildTestApp, publish, skillMd } from '../build-app.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { complete, completed, hi, messageOf, resultFor, weather } from './openai-chat-wire.ts'

suite('a completion', { concurrency: 2 }, () => {
  test('is an answer of the agent, in the shape of OpenAI', async (t) => {
    const { app, sent } = await talk(t, [say('Hello.')])
    const { headers, ...answer } = await completed(app, {
      messages: [{ role: 'system', content: 'Be brief.' }, hi],
      seed: 7,
      user: 'u',
    })
    const { id, created, loadskill, ...rest } = answer
    assert.match(id, /^chatcmpl-/)
    assert.ok(Math.abs(created * 1000 - Date.now()) < 60_000)
    assert.deepEqual(rest, {
      object: 'chat.completion',
      model: 'default',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello.', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 14,
        completion_tokens: 3,
        total_tokens: 17,
        prompt_tokens_details: { cached_tokens: 5 },
      },
    })
    assert.equal(headers['request-id'], headers['x-request-id'])
    assert.equal(headers['x-conversation-id'], loadskill.conversation_id)
    assert.equal(headers['x-turn-id'], loadskill.turn_id)
    assert.match(sent()[0]?.system ?? '', /\n\nBe brief\.$/)
  })

  test('has what system and developer messages say behind the catalog', async (t) => {
    const { app, sent } = await talk(t, [say('Hello.')], { skills: [skillMd('greet')] })
    const developer = { role: 'developer', content: [{ type: 'text', text: 'Two.' }] }
    await completed(app, { messages: [{ role: 'system', content: 'One.' }, hi, developer] })
    assert.match(sent()[0]?.system ?? '', /^- greet: .*\n\nOne\.\n\nTwo\.$/m)
    assert.deepEqual(
      sent()[0]?.messages.map(({ role }) => role),
      ['user'],
    )
  })

  test('of the offline model finds the catalog before a list of the caller', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet'))
    const system = { role: 'system', content: '- be brief\n- ok' }
    const said = { role: 'user', content: 'Please use greet' }
    const { loadskill } = await completed(app, { messages: [system, said] })
    assert.equal(loadskill.receipt.loaded[0]?.name, 'greet')
  })

  test('goes on with the results of the calls it handed out, and loads a skill once', async (t) => {
    const script = [load('greet'), call('get_weather', { city: 'Oslo' }), say('Sunny.')]
    const { app, sent } = await talk(t, script, { skills: [skillMd('greet', 'BODY-OF-IT')] })
    const first = await completed(app, { tools: [weather] })
    assert.equal(first.choices[0].finish_reason, 'tool_calls')
    const message = messageOf(first)
    assert.equal(message.content, null)
    assert.equal(message.tool_calls.length, 1)
    assert.equal(first.usage.prompt_tokens, 28)

    const result = resultFor(message.tool_calls[0]?.id, '20 degrees')
    const second = await completed(app, { tools: [weather], messages: [hi, message, result] })
    assert.equal(second.choices[0].message.content, 'Sunny.')
    assert.equal('tool_calls' in second.choices[0].message, false)
    assert.equal(second.loadskill.turn_id, first.loadskill.turn_id)
    assert.equal(second.usage.prompt_tokens, 14)
    assert.equal(second.loadskill.receipt.loaded.length, 1)
    const last = sent()[2]
    assert.equal(JSON.stringify(last?.messages).split('BODY-OF-IT').length, 2)
    assert.equal(last?.results.at(-1)?.text, '20 degrees')
  })

  test('takes messages of another server as they stand', async (t) => {
    const { app, sent } = await talk(t, [say('Sunny.')])
    const made = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    })
    const assistant = { role: 'assistant', content: null, tool_calls: [made('a.1'), made('b')] }
    const results = [resultFor('b', 'second'), resultFor('a.1', 'first')]
    await completed(app, { tools: [weather], messages: [hi, assistant, ...results] })
    assert.deepEqual(
      sent()[0]?.results.map(({ text }) => text),
      ['first', 'second'],
    )
  })

  test('runs our calls beside the caller’s, and hands out only those', async (t) => {
    const both = atOnce(load('greet'), call('get_weather'))
    const { app } = await talk(t, [both], { skills: [skillMd('greet')] })
    const answer = await completed(app, { tools: [weather] })
    assert.equal(messageOf(answer).tool_calls.length, 1)
    assert.equal(answer.loadskill.receipt.loaded[0].name, 'greet')
  })

  test('needs the results of all calls at once', async (t) => {
    const { app } = await talk(t, [atOnce(call('get_weather'), call('get_weather')), say('Done.')])
    const message = messageOf(await completed(app, { tools: [weather] }))
    const [one, other] = message.tool_calls.map(({ id }) => resultFor(id, id))
    const partial = await complete(app, { messages: [hi, message, one] })
    assert.equal(partial.statusCode, 400)
    const hidden = { ...message, tool_calls: message.tool_calls.slice(0, 1) }
    assert.equal((await complete(app, { messages: [hi, hidden, one] })).statusCode, 400)
    const whole = await completed(app, { messages: [hi, message, other, one] })
    assert.equal(whole.choices[0].message.content, 'Done.')
  })

  test('goes on in a conversation that is named', async (t) => {
    const { app, sent } = await talk(t, [say('One.'), say('Two.')])
    const { loadskill } = await completed(app, {})
    const metadata = { conversation_id: loadskill.conversation_id }
    const said = [hi, { role: 'assistant', content: 'One.' }, { role: 'user', content: 'And?' }]
    const second = await completed(app, { metadata, messages: said })
    assert.equal(second.loadskill.conversation_id, loadskill.conversation_id)
    assert.equal(sent()[1]?.messages.length, 3)
    const unknown = await complete(app, { metadata: { conversation_id: 'conv_x' } })
    assert.equal(unknown.statusCode, 404)
  })

  test('asks nobody for an approval', async (t) => {
    const { app, sent } = await talk(t, [call('fetch_it'), say('I could not.')])
    const made = await app.inject({
      method: 'PUT',
      url: '/api/v1/tools/fetch_it',
      payload: {
        description: 'Fetches it.',
        input_schema: { type: 'object' },
        request: { method: 'GET', url: 'https://example.com/' },
      },
    })
    assert.equal(made.statusCode, 201, made.body)
    const agent = { approval: ['fetch_it'] }
    await app.inject({ method: 'PUT', url: '/api/v1/agents/careful', payload: agent })
    const answer = await completed(app, { model: 'careful' })
    assert.equal(answer.choices[0].message.content, 'I could not.')
    assert.match(sent()[1]?.results[0]?.text ?? '', /needs an approval/)
    assert.equal(answer.loadskill.receipt.denied[0].tool, 'fetch_it')
  })

  test('is told which tool to call, once', async (t) => {
    const { app, requests } = await talk(t, [call('get_weather'), say('Done.'), say('Done.')])
    const named = { type: 'function', function: { name: 'get_weather' } }
    const message = messageOf(await completed(app, { tools: [weather], tool_choice: named }))
    const result = resultFor(message.tool_calls[0]?.id, 'Rain')
    const messages = [hi, message, result]
    await completed(app, { tools: [weather], tool_choice: 'auto', messages })
    await completed(app, { tools: [weather], tool_choice: 'none' })
    assert.deepEqual(
      requests.map(({ body }) => [body.tool_choice, Array.isArray(body.tools)]),
      [
        [{ type: 'tool', name: 'get_weather' }, true],
        [undefined, true],
        [undefined, false],
      ],
    )
  })

  test('that meets its limit says so', async (t) => {
    const { app, requests } = await talk(t, [{ text: 'Half', stop: 'max_tokens' }])
    const limits = { max_tokens: 9, max_completion_tokens: 5, temperature: 0.5 }
    const answer = await completed(app, limits)
    assert.equal(answer.choices[0].finish_reason, 'length')
    assert.deepEqual([requests[0]?.body.max_tokens, requests[0]?.body.temperature], [5, 0.5])
  })

  test('is given again for the same idempotency key', async (t) => {
    const { app, requests } = await talk(t, [say('Once.')])
    const key = { 'idempotency-key': 'k1' }
    const first = await complete(app, {}, key)
    const again = await complete(app, {}, key)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.deepEqual(again.json().choices, first.json().choices)
    assert.equal(again.headers['x-turn-id'], first.headers['x-turn-id'])
    assert.equal(requests.length, 1)
  })
})
