import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refuse } from '../agent/fake-provider.ts'
import { talk, temporaryFolder, until } from '../agent/talk.ts'
import { putAgent, toolShop } from '../agent/tool-shop.ts'
import { buildTestApp, chat, get, type TestApp } from '../build-app.ts'
import { allOf } from '../http/event-reader.ts'
import { assertProblem, send } from '../requests.ts'
import { call, say } from '../scripted-model.ts'

const KEY = { 'idempotency-key': 'k1' }
const once = (app: TestApp, payload: object, headers: Record<string, string> = KEY) =>
  send(app, 'POST', '/chat', { payload, headers })

suite('a turn with an Idempotency-Key', { concurrency: 2 }, () => {
  test('runs once, and the same request again gets the same answer', async (t) => {
    const { app, requests } = await talk(t, [say('One.'), say('Two.')])
    const first = await once(app, { message: 'Hi' })
    const again = await once(app, { message: 'Hi' })
    assert.deepEqual([again.statusCode, again.json()], [200, first.json()])
    assert.equal(first.headers['idempotent-replayed'], undefined)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assertProblem(await once(app, { message: 'Ho' }), 422, 'idempotency_mismatch')
    assert.equal(requests.length, 1)
    assert.equal((await get(app, '/conversations')).json().data.length, 1)
  })

  test('is told as events again, the first and the last', async (t) => {
    const { app, requests } = await talk(t, [say('One.')])
    const asked = { message: 'Hi', stream: true }
    const whole = await allOf(new Response((await once(app, asked)).body))
    const again = await once(app, asked)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    const events = await allOf(new Response(again.body))
    assert.deepEqual(
      events.map(({ event }) => event),
      ['turn.started', 'turn.finished'],
    )
    assert.deepEqual(events.at(-1)?.data, whole.at(-1)?.data)
    assert.equal(requests.length, 1)
  })

  test('that fails is the same failure again, and a refusal before it is none', async (t) => {
    const { app, requests } = await talk(t, [refuse(400, {}), say('One.')])
    assertProblem(await once(app, { message: 'Hi', agent: 'nobody' }), 404, 'agent_not_found')
    const first = await once(app, { message: 'Hi' })
    assertProblem(first, 502, 'model_error')
    const again = await once(app, { message: 'Hi' })
    assert.deepEqual([again.statusCode, again.json()], [502, first.json()])
    assert.equal(requests.length, 1)
  })

  test('is refused while the first one runs', async (t) => {
    const { app, requests } = await talk(t, [say('One.'), say('Two.')])
    const answers = await Promise.all([1, 2, 3].map(() => once(app, { message: 'Hi' })))
    const [ran, ...others] = answers.toSorted((a, b) => a.statusCode - b.statusCode)
    assert.equal(ran?.statusCode, 200)
    for (const other of others) {
      if (other.statusCode === 200) assert.deepEqual(other.json(), ran?.json())
      else assertProblem(other, 409, 'idempotency_in_flight')
    }
    assert.equal(requests.length, 1)
  })

  test('is answered as it is stored when the process died before its end', async (t) => {
    const file = { DATABASE_URL: `sqlite:${await temporaryFolder(t)}/skills.db` }
    const shop = await toolShop(t, { silent: 1 })
    const script = [call('slow', { id: '1' }), say('Done.')]
    const { app, env } = await talk(t, script, { env: { ...file, ...shop.env } })
    await shop.add(app, 'slow')
    const cut = once(app, { message: 'Hi' })
    await until(() => shop.hits.length > 0)
    const later = await buildTestApp(t, { env })
    const again = await once(later, { message: 'Hi' })
    assert.deepEqual([again.statusCode, again.json().status], [200, 'interrupted'])
    const { conversation_id } = again.json()

    const resumed = (await chat(later, { conversation_id })).json()
    assert.deepEqual([resumed.status, resumed.output], ['completed', 'Done.'])
    assert.match(resumed.messages[1].content[0].output, /was not run again/)
    assert.equal(shop.hits.length, 1)
    await app.close()
    await cut
  })
})

suite('a turn that was cut short', { concurrency: 2 }, () => {
  test('goes on when its model had failed, and there is nothing to go on with else', async (t) => {
    const { app, ask } = await talk(t, [refuse(400, {}), say('Done.')])
    const failed = await chat(app, { message: 'Hi' })
    assertProblem(failed, 502, 'model_error')
    const { conversation_id, turn_id } = failed.json()
    const turn = await ask({ conversation_id })
    assert.deepEqual([turn.id, turn.status, turn.output], [turn_id, 'completed', 'Done.'])
    assert.equal(turn.error, null)
    assertProblem(await chat(app, { conversation_id }), 422, 'nothing_to_continue')
    assertProblem(await chat(app, {}), 400, 'body_invalid')
  })

  test('runs an idempotent tool again', async (t) => {
    const file = { DATABASE_URL: `sqlite:${await temporaryFolder(t)}/skills.db` }
    const shop = await toolShop(t, { silent: 1 })
    const script = [call('look', { id: '1' }), say('Done.')]
    const { app, env } = await talk(t, script, { env: { ...file, ...shop.env } })
    await shop.add(app, 'look', { method: 'GET' })
    const cut = chat(app, { message: 'Hi' })
    await until(() => shop.hits.length > 0)
    const later = await buildTestApp(t, { env })
    const [{ id }] = (await get(later, '/conversations')).json().data
    const turn = (await chat(later, { conversation_id: id })).json()
    assert.deepEqual([turn.status, turn.output], ['completed', 'Done.'])
    assert.deepEqual(shop.hits, ['GET /look/1', 'GET /look/1'])
    await app.close()
    await cut
  })
})

suite('a budget', { concurrency: 2 }, () => {
  for (const [title, budget, calls] of [
    ['of a turn', { turn_tokens: 1 }, 1],
    ['of a conversation', { conversation_tokens: 1 }, 1],
    ['that is not reached', { turn_tokens: 1_000_000 }, 2],
  ] as const) {
    test(`${title} is looked at before each model call`, async (t) => {
      const shop = await toolShop(t)
      const script = [call('look', { id: '1' }), say('Done.')]
      const { app, ask, requests } = await talk(t, script, { env: shop.env })
      await shop.add(app, 'look', { method: 'GET' })
      await putAgent(app, 'poor', { budget })
      const turn = await ask({ agent: 'poor', message: 'Hi' })
      const end = calls === 1 ? ['incomplete', 'budget'] : ['completed', 'answered']
      assert.deepEqual([turn.status, turn.stop_reason, requests.length], [...end, calls])
      const { conversation_id } = turn
      if (title !== 'of a conversation') return
      const next = await ask({ conversation_id, message: 'More.' })
      assert.deepEqual([next.status, next.stop_reason], ['incomplete', 'budget'])
      assert.equal(requests.length, 1)
    })
  }
})
