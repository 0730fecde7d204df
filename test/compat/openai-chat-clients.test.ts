import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { talk } from '../agent/talk.ts'
import { skillMd } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { addressOf, hi, weather } from './openai-chat-wire.ts'

const skills = [skillMd('greet', 'BODY-OF-IT')]
const script = () => [load('greet'), call('get_weather', { city: 'Oslo' }), say('It is sunny.')]

const loadedOnce = (messages: unknown) =>
  assert.equal(JSON.stringify(messages).split('BODY-OF-IT').length, 2)

suite('the package ai', { concurrency: 2 }, () => {
  async function agent(t: Parameters<typeof talk>[0]) {
    const talking = await talk(t, script(), { skills })
    const baseURL = `${await addressOf(talking.app)}/v1`
    const provider = createOpenAICompatible({ name: 'loadskill', baseURL, includeUsage: true })
    const cities: string[] = []
    const get_weather = tool({
      description: 'The weather of a city.',
      inputSchema: jsonSchema<{ city: string }>(weather.function.parameters as object),
      execute: async ({ city }) => {
        cities.push(city)
        return '20 degrees'
      },
    })
    const asked = { prompt: 'Hi', tools: { get_weather }, stopWhen: isStepCount(4), maxRetries: 0 }
    return { ...talking, cities, asked, provider }
  }

  test('runs its tool, with a skill loaded in between', async (t) => {
    const { asked, provider, cities, sent } = await agent(t)
    const { text, steps, usage } = await generateText({ ...asked, model: provider('default') })
    assert.equal(text, 'It is sunny.')
    assert.deepEqual([cities, steps.length, usage.totalTokens], [['Oslo'], 2, 51])
    loadedOnce(sent()[2]?.messages)
  })

  test('streams the same', async (t) => {
    const { asked, provider, cities, sent } = await agent(t)
    const result = streamText({ ...asked, model: provider('default') })
    let text = ''
    for await (const piece of result.textStream) text += piece
    assert.equal(text, 'It is sunny.')
    assert.equal(await result.finishReason, 'stop')
    assert.deepEqual(cities, ['Oslo'])
    loadedOnce(sent()[2]?.messages)
  })

  test('throws an error of its own class', async (t) => {
    const { asked, provider } = await agent(t)
    await assert.rejects(generateText({ ...asked, model: provider('x') }), (error) => {
      assert.ok(APICallError.isInstance(error))
      assert.deepEqual([error.statusCode, error.message], [404, "The model 'x' does not exist"])
      return true
    })
  })
})

suite('the package @langchain/openai', () => {
  test('has one turn with a call of its tool', async (t) => {
    const { app, sent } = await talk(t, script(), { skills })
    const baseURL = `${await addressOf(app)}/v1`
    const model = new ChatOpenAI({ model: 'default', apiKey: 'any', configuration: { baseURL } })
    const bound = model.bindTools([weather])
    const human = new HumanMessage(hi.content)
    const first = await bound.invoke([human])
    const [made] = first.tool_calls ?? []
    assert.deepEqual([made?.name, made?.args], ['get_weather', { city: 'Oslo' }])
    const result = new ToolMessage({ content: '20 degrees', tool_call_id: made?.id ?? '' })
    const second = await bound.invoke([human, first, result])
    assert.equal(second.text, 'It is sunny.')
    assert.equal(second.usage_metadata?.total_tokens, 17)
    loadedOnce(sent()[2]?.messages)
  })
})
