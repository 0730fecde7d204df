import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import OpenAI from 'openai'
import OpenAI7 from 'openai-7'
import { refuse, stream } from '../agent/fake-provider.ts'
import { talk } from '../agent/talk.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { call, load, say } from '../scripted-model.ts'
import { addressOf, hi, weather } from './openai-chat-wire.ts'

const script = () => [
  load('greet'),
  { text: 'One moment.', ...call('get_weather', { city: 'Oslo' }) },
  say('It is sunny.'),
]
const skills = [skillMd('greet', 'BODY-OF-IT')]
const tools = [weather]
const model = 'default'
const counted = { stream: true as const, stream_options: { include_usage: true } }

/** Both versions are used in the same way, and have types of their own: one is taken for the other. */
const versions: [name: string, Client: typeof OpenAI][] = [
  ['6', OpenAI],
  ['7', Object(OpenAI7)],
]

for (const [version, Client] of versions) {
  suite(`the package openai ${version}`, { concurrency: 2 }, () => {
    const clientFor = async (app: TestApp, apiKey = 'any') =>
      new Client({ apiKey, baseURL: `${await addressOf(app)}/v1`, maxRetries: 0 })

    test('shows the id of the request', async (t) => {
      const { app } = await talk(t, [say('Hello.')])
      const asked = (await clientFor(app)).chat.completions.create({ model, messages: [hi] })
      const { data, response, request_id } = await asked.withResponse()
      assert.equal(data.choices[0]?.message.content, 'Hello.')
      assert.equal(request_id, response.headers.get('request-id'))
    })

    test('calls its tool, with a skill loaded in between', async (t) => {
      const { app, sent } = await talk(t, script(), { skills })
      const client = await clientFor(app)
      const first = await client.chat.completions.create({ model, messages: [hi], tools })
      const message = first.choices[0]?.message
      assert.ok(message)
      assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
      const [made] = message.tool_calls ?? []
      assert.ok(made?.type === 'function')
      assert.deepEqual(JSON.parse(made.function.arguments), { city: 'Oslo' })
      const result = { role: 'tool' as const, tool_call_id: made.id, content: '20' }
      const messages = [hi, message, result]
      const second = await client.chat.completions.create({ model, messages, tools })
      assert.equal(second.choices[0]?.message.content, 'It is sunny.')
      assert.equal(second.choices[0]?.finish_reason, 'stop')
      assert.equal(first.usage?.total_tokens, 34)
      assert.equal(second.usage?.total_tokens, 17)
      assert.equal(JSON.stringify(sent()[2]?.messages).split('BODY-OF-IT').length, 2)
    })

    test('streams, by its own reading of the chunks', async (t) => {
      const { app } = await talk(t, script(), { skills })
      const client = await clientFor(app)
      const events = client.chat.completions.stream({ model, messages: [hi], tools, ...counted })
      const final = await events.finalChatCompletion()
      const [choice] = final.choices
      assert.equal(choice?.message.content, 'One moment.')
      assert.equal(choice.finish_reason, 'tool_calls')
      const [made] = choice.message.tool_calls ?? []
      assert.ok(made?.type === 'function')
      assert.equal(made.function.arguments, '{"city":"Oslo"}')
      assert.equal((await events.totalUsage()).total_tokens, 34)
    })

    test('runs tools by itself', async (t) => {
      const { app, requests } = await talk(t, script(), { skills })
      const client = await clientFor(app)
      const cities: unknown[] = []
      const runner = client.chat.completions.runTools({
        model,
        messages: [hi],
        tools: [
          {
            type: 'function',
            function: {
              ...weather.function,
              parse: JSON.parse,
              function: async (input: object) => {
                cities.push(input)
                return '20'
              },
            },
          },
        ],
      })
      assert.equal(await runner.finalContent(), 'It is sunny.')
      assert.deepEqual(cities, [{ city: 'Oslo' }])
      assert.equal(requests.length, 3)
    })

    test('lists the models', async (t) => {
      const { app } = await talk(t, [])
      const client = await clientFor(app)
      const names: string[] = []
      for await (const { id } of client.models.list()) names.push(id)
      assert.deepEqual(names, ['default'])
      assert.equal((await client.models.retrieve('default')).owned_by, 'loadskill')
      await assert.rejects(client.models.retrieve('x'), Client.NotFoundError)
    })

    test('throws errors of its own classes', async (t) => {
      const { app } = await talk(t, [refuse(400)])
      const client = await clientFor(app)
      const completions = client.chat.completions
      const unknown = completions.create({ model: 'x', messages: [hi] })
      await assert.rejects(unknown, (error) => {
        assert.ok(error instanceof Client.NotFoundError)
        assert.deepEqual([error.code, error.param], ['model_not_found', 'model'])
        assert.match(error.requestID ?? '', /^req_/)
        return true
      })
      const bad = completions.create({ model, messages: [hi], n: 2 })
      await assert.rejects(bad, Client.BadRequestError)
      await assert.rejects(
        completions.create({ model, messages: [hi] }),
        Client.InternalServerError,
      )
    })

    test('throws when a stream breaks off', async (t) => {
      const error = { type: 'error', error: { type: 'api_error', message: 'no' } }
      const broken = stream([messageStart, ...textBlock(0, 'Half'), error])
      const { app } = await talk(t, [broken])
      const client = await clientFor(app)
      const chunks = await client.chat.completions.create({ model, messages: [hi], stream: true })
      let text = ''
      await assert.rejects(async () => {
        for await (const { choices } of chunks) text += choices[0]?.delta.content ?? ''
      }, Client.APIError)
      assert.equal(text, 'Half')
    })

    test('that leaves ends the model call', async (t) => {
      const endless = stream([messageStart, ...textBlock(0, 'Half').slice(0, 2)], 'hang')
      const { app, requests } = await talk(t, [endless])
      const client = await clientFor(app)
      const chunks = await client.chat.completions.create({ model, messages: [hi], stream: true })
      for await (const { choices } of chunks) {
        if (choices[0]?.delta.content) chunks.controller.abort()
      }
      assert.equal(await requests[0]?.closed, 'left')
    })

    test('is told which key is missing what', async (t) => {
      const { app, keys } = await withKeys(t, { chats: ['chat'], reads: ['skills:read'] })
      const baseURL = `${await addressOf(app)}/v1`
      const by = (apiKey: string) => new Client({ apiKey, baseURL, maxRetries: 0 })
      const ask = (client: OpenAI) => client.chat.completions.create({ model, messages: [hi] })
      await assert.rejects(ask(by('lsk_none')), (error) => {
        assert.ok(error instanceof Client.AuthenticationError)
        assert.equal(error.code, 'invalid_api_key')
        return true
      })
      await assert.rejects(ask(by(keys.reads['x-api-key'])), Client.PermissionDeniedError)
      assert.equal((await by(keys.reads['x-api-key']).models.list()).data.length, 1)
      const answer = await ask(by(keys.chats['x-api-key']))
      assert.match(answer.choices[0]?.message.content ?? '', /offline model/)
    })
  })
}
