import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { talk, tool } from '../agent/talk.ts'
import { chat, get } from '../build-app.ts'
import { say } from '../scripted-model.ts'

const user = (content: unknown) => ({ role: 'user', content })

suite('what is taken', { concurrency: 2 }, () => {
  test('messages of both roles, as text or parts, go to the model in their order', async (t) => {
    const { ask, sent } = await talk(t, [say('Done.')])
    const parts = [{ type: 'text', text: 'Two\n\0' }]
    const assistant = { role: 'assistant', content: 'Mine.' }
    const turn = await ask({ messages: [user('One'), assistant, user(parts), user('Three')] })
    assert.deepEqual(
      sent()[0]?.messages.map(({ role, content }) => [role, ...content.map(({ text }) => text)]),
      [
        ['user', 'One'],
        ['assistant', 'Mine.'],
        ['user', 'Two\n\0', 'Three'],
      ],
    )
    assert.equal(turn.messages.length, 1)
  })

  test('what the caller says as the model is no output of the turn', async (t) => {
    const { app } = await talk(t, [])
    const assistant = { role: 'assistant', content: 'Mine.' }
    const failed = await chat(app, { messages: [user('One'), assistant, user('Two')] })
    const { conversation_id, turn_id } = failed.json()
    const turn = await get(app, `/conversations/${conversation_id}/turns/${turn_id}`)
    assert.deepEqual([turn.json().output, turn.json().messages], ['', []])
  })

  test('settings of a conversation stay until a request says otherwise', async (t) => {
    const { ask, requests } = await talk(t, [say('One.'), say('Two.'), say('Three.')])
    const tools = [tool('mine')]
    const { conversation_id } = await ask({
      message: 'Hi',
      instructions: 'Be brief.',
      tools,
      temperature: 0.5,
    })
    await ask({ conversation_id, message: 'And?' })
    await ask({ conversation_id, message: 'And?', instructions: '', tools: [], temperature: null })
    const seen = requests.map(({ body }) => [
      body.system !== undefined,
      Array.isArray(body.tools),
      body.temperature,
    ])
    assert.deepEqual(seen, [
      [true, true, 0.5],
      [true, true, 0.5],
      [false, false, 0.5],
    ])
  })

  test('a null for every property is a property left out', async (t) => {
    const { ask } = await talk(t, [say('Done.')])
    const names = [
      'conversation_id',
      'agent',
      'model',
      'instructions',
      'tools',
      'tool_results',
      'messages',
    ]
    const more = ['max_steps', 'max_output_tokens', 'temperature', 'allowed_tools_mode']
    const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]))
    const skills = { names: null, tags: null, preload: [] }
    assert.equal((await ask({ message: 'Hi', ...nulls, skills })).status, 'completed')
  })
})
