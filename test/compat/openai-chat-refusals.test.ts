import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refuse } from '../agent/fake-provider.ts'
import { meanwhile, talk } from '../agent/talk.ts'
import { get, skillMd } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { complete, completed, hi, resultFor, weather } from './openai-chat-wire.ts'

suite('a failure', { concurrency: 2 }, () => {
  test('while the conversation is busy is not worth another try', async (t) => {
    let inner: Awaited<ReturnType<typeof complete>> | undefined
    const metadata: { conversation_id?: string } = {}
    const busy = meanwhile(async () => {
      inner = await complete(app, { metadata })
    }, say('Two.'))
    const { app } = await talk(t, [say('One.'), busy])
    metadata.conversation_id = (await completed(app, {})).loadskill.conversation_id
    await completed(app, { metadata })
    assert.equal(inner?.statusCode, 409)
    assert.equal(inner.headers['x-should-retry'], 'false')
    assert.equal(inner.json().error.code, 'turn_in_progress')
  })

  test('once a tool has run is not to be tried again', async (t) => {
    const { app } = await talk(t, [call('nothing_such'), refuse(400), load('greet'), refuse(400)], {
      skills: [skillMd('greet')],
    })
    const after = await complete(app, {})
    assert.deepEqual([after.statusCode, after.headers['x-should-retry']], [502, 'false'])
    const loaded = await complete(app, {})
    assert.deepEqual([loaded.statusCode, loaded.headers['x-should-retry']], [502, undefined])
  })
})

suite('what is refused', { concurrency: 2 }, () => {
  const image = { type: 'image_url', image_url: { url: 'data:' } }
  const cases: [what: string, body: object, status: number, code: string, param: string | null][] =
    [
      ['no messages', { messages: [] }, 400, 'body_invalid', 'messages'],
      ['a role of its own', { messages: [{ role: 'x' }] }, 400, 'body_invalid', 'messages[0].role'],
      ['several answers', { n: 2 }, 400, 'unsupported_parameter', 'n'],
      [
        'an image',
        { messages: [{ role: 'user', content: [image] }] },
        400,
        'unsupported_content',
        'messages[0].content[0]',
      ],
      ['an unknown model', { model: 'gpt-x' }, 404, 'model_not_found', 'model'],
      [
        'a tool like ours',
        { tools: [weather, { type: 'function', function: { name: 'load_skill' } }] },
        400,
        'tool_name_conflict',
        'tools[1].function.name',
      ],
      ['a result of nothing', { messages: [hi, resultFor('x', '')] }, 400, 'body_invalid', null],
      ['a choice of no tool', { tool_choice: 'required' }, 400, 'body_invalid', 'tool_choice'],
    ]
  for (const [what, body, status, code, param] of cases) {
    test(what, async (t) => {
      const { app } = await talk(t, [])
      const response = await complete(app, body)
      assert.equal(response.statusCode, status, response.body)
      const { error } = response.json()
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.deepEqual([error.type, error.code], ['invalid_request_error', code])
      if (param !== null) assert.equal(error.param, param)
      const { data } = (await get(app, '/conversations')).json()
      assert.deepEqual(data, [])
    })
  }
})

test('agents are models', async (t) => {
  const { app } = await talk(t, [])
  await app.inject({ method: 'PUT', url: '/api/v1/agents/helper', payload: {} })
  const list = (await app.inject('/v1/models')).json()
  assert.deepEqual(
    list.data.map(({ id, object, owned_by }: Record<string, string>) => [id, object, owned_by]),
    [
      ['default', 'model', 'loadskill'],
      ['helper', 'model', 'loadskill'],
    ],
  )
  assert.deepEqual((await app.inject('/v1/models/helper')).json(), list.data[1])
  const unknown = await app.inject('/v1/models/x')
  assert.equal(unknown.statusCode, 404)
  assert.deepEqual(unknown.json(), {
    error: {
      message: "The model 'x' does not exist",
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  })
})
