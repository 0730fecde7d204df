import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import Database from 'better-sqlite3'
import { type Answer, refuse, silence, stream } from '../agent/fake-provider.ts'
import { meanwhile, talk, temporaryFolder, until } from '../agent/talk.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { chat, get, skillMd } from '../build-app.ts'
import { load, say } from '../scripted-model.ts'

const busy = refuse(429, { 'retry-after-ms': '5' })
const begun = stream([messageStart, ...textBlock(0, 'Half ').slice(0, 2)], 'hang')
const cut = stream([messageStart, ...textBlock(0, 'Half ')], 'cut')
const SECRETS = /CANARY|sk-12345|key-4711|127\.0\.0\.1|anthropic\.com|some_error|stack|node_modules/

const impatient = { MODEL_TIMEOUT_MS: '800', MODEL_IDLE_TIMEOUT_MS: '800' }
const failures: [what: string, script: Answer[], status: number, code: string][] = [
  ['refuses', [refuse(400)], 502, 'model_error'],
  ['does not know the key', [refuse(401)], 502, 'model_error'],
  ['is overrun', [busy, busy, busy], 503, 'model_unavailable'],
  ['is silent', [silence], 504, 'model_timeout'],
  ['falls silent', [begun], 504, 'model_timeout'],
  ['breaks off', [cut], 502, 'model_error'],
]

suite('a provider that fails', { concurrency: 2 }, () => {
  for (const [what, script, status, code] of failures) {
    test(`${what}: the answer is the problem, the turn is kept, the next message works; a stream ends with it`, async (t) => {
      const env = code === 'model_timeout' ? impatient : {}
      const { app, ask, sent } = await talk(t, [...script, say('Done.'), ...script], { env })
      const response = await chat(app, { message: 'Hi' })
      assert.equal(response.statusCode, status)
      assert.equal(response.headers['retry-after'], status === 503 ? '1' : undefined)
      const { conversation_id, turn_id, ...problem } = response.json()
      assert.equal(problem.code, code)
      const path = `/conversations/${conversation_id}`
      const turn = await get(app, `${path}/turns/${turn_id}`)
      assert.deepEqual([turn.json().status, turn.json().stop_reason], ['failed', 'error'])
      assert.equal(turn.json().error.code, code)
      for (const { body } of [response, turn, await get(app, path)])
        assert.doesNotMatch(body, SECRETS)

      assert.equal((await ask({ conversation_id, message: 'Again' })).status, 'completed')
      const texts = sent()
        .at(-1)
        ?.messages.flatMap(({ content }) => content.map(({ text }) => text))
      assert.deepEqual(texts, ['Hi', 'Again'])

      const streamed = await chat(app, { message: 'Hi', stream: true })
      assert.equal(streamed.statusCode, 200)
      const last = streamed.body.trim().split('\n\n').at(-1) ?? ''
      assert.match(last, /^id: \d+\nevent: error\ndata: /)
      const told = JSON.parse(last.split('data: ')[1] ?? '')
      assert.deepEqual([told.code, told.status], [code, status])
      assert.match(`${told.conversation_id} ${told.turn_id}`, /^conv_\w+ turn_\w+$/)
      assert.doesNotMatch(streamed.body, SECRETS)
    })
  }

  test('at its second step: what the first one loaded stays', async (t) => {
    const script = [load('greet'), refuse(400), load('greet'), say('Done.')]
    const { app, ask } = await talk(t, script, { skills: [skillMd('greet')] })
    const { conversation_id, turn_id } = (await chat(app, { message: 'Hi' })).json()
    const turn = (await get(app, `/conversations/${conversation_id}/turns/${turn_id}`)).json()
    assert.deepEqual([turn.status, turn.steps, turn.receipt.loaded.length], ['failed', 1, 1])
    assert.deepEqual(turn.usage.model_calls, 1)
    const next = await ask({ conversation_id, message: 'Again' })
    assert.equal(next.receipt.loaded[0].repeat, true)
  })
})

suite('a storage that fails', { concurrency: 2 }, () => {
  test('for a moment fails the turn, and the conversation goes on', async (t) => {
    const file = `${await temporaryFolder(t)}/chat.db`
    const other = new Database(file)
    t.after(() => other.close())
    const lock = async () => {
      other.exec('begin immediate')
      setTimeout(() => other.exec('rollback'), 600)
    }
    const script = [meanwhile(lock, say('Lost.')), say('Done.')]
    const { app, ask } = await talk(t, script, { env: { DATABASE_URL: `sqlite:${file}` } })
    const response = await chat(app, { message: 'Hi' })
    assert.equal(response.statusCode, 503)
    const { code, conversation_id, turn_id } = response.json()
    assert.equal(code, 'storage_busy')
    assert.equal(response.headers['retry-after'], '1')
    const turn = await get(app, `/conversations/${conversation_id}/turns/${turn_id}`)
    assert.equal(turn.json().status, 'failed')
    assert.equal((await ask({ conversation_id, message: 'Again' })).status, 'completed')
  })

  test('as a new turn begins leaves none that runs', async (t) => {
    const file = `${await temporaryFolder(t)}/chat.db`
    const { app, ask, requests } = await talk(t, [load('greet'), say('Done.'), say('Done.')], {
      env: { DATABASE_URL: `sqlite:${file}` },
      skills: [skillMd('greet')],
    })
    const { conversation_id } = await ask({ message: 'Hi', max_steps: 1 })
    const other = new Database(file)
    t.after(() => other.close())
    // The turn can begin, but its messages cannot be stored.
    other.exec(`create trigger no_messages before insert on messages
      begin select raise(abort, 'no messages'); end`)
    const response = await chat(app, { conversation_id, message: 'Again' })
    assert.equal(response.statusCode, 500)
    assert.doesNotMatch(response.body, /no messages/)
    other.exec('drop trigger no_messages')
    assert.equal((await ask({ conversation_id, message: 'Again' })).status, 'completed')
    assert.equal(requests.length, 2)
  })
})

suite('turns at once', { concurrency: 2 }, () => {
  test('a second turn while one runs is refused, and does not disturb it', async (t) => {
    const { app, ask, requests } = await talk(t, [say('One.'), begun, say('Done.')])
    const { conversation_id } = await ask({ message: 'Hi' })
    const running = chat(app, { conversation_id, message: 'Second' })
    await until(() => requests.length === 2)
    for (const more of [{ message: 'Third' }, { tool_results: [{ call_id: 'a', output: '' }] }]) {
      const refused = await chat(app, { conversation_id, ...more })
      assert.deepEqual([refused.statusCode, refused.json().code], [409, 'turn_in_progress'])
    }
    const url = `/api/v1/conversations/${conversation_id}/cancel`
    assert.deepEqual((await app.inject({ method: 'POST', url })).json(), { cancelled: true })
    const cancelled = await running
    assert.equal(cancelled.statusCode, 200)
    const { status, stop_reason } = cancelled.json()
    assert.deepEqual([status, stop_reason], ['interrupted', 'cancelled'])
    assert.equal(await requests[1]?.closed, 'left')
    assert.equal((await ask({ conversation_id, message: 'Fourth' })).status, 'completed')
    assert.deepEqual((await app.inject({ method: 'POST', url })).json(), { cancelled: false })
  })

  test('of many first words to one conversation, one is heard', async (t) => {
    const { app, ask } = await talk(t, [say('One.'), say('Two.')])
    const { conversation_id } = await ask({ message: 'Hi' })
    const all = await Promise.all(
      Array.from({ length: 8 }, () => chat(app, { conversation_id, message: 'Again' })),
    )
    const codes = all.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(codes, [200, ...Array(7).fill(409)])
  })

  test('more than MAX_STREAMS are told to come again', async (t) => {
    const env = { MAX_STREAMS: '2' }
    const { app, requests } = await talk(t, [begun, begun, say('Done.')], { env })
    const all = Promise.all(Array.from({ length: 4 }, () => chat(app, { message: 'Hi' })))
    await until(() => requests.length === 2)
    const { data } = (await get(app, '/conversations')).json()
    assert.equal(data.length, 2)
    for (const { id } of data) {
      await app.inject({ method: 'DELETE', url: `/api/v1/conversations/${id}` })
    }
    const refused = (await all).filter(({ statusCode }) => statusCode === 503)
    assert.deepEqual(
      refused.map((response) => [response.json().code, response.headers['retry-after']]),
      [
        ['overloaded', '5'],
        ['overloaded', '5'],
      ],
    )
    assert.equal((await chat(app, { message: 'Hi' })).statusCode, 200)
  })
})
