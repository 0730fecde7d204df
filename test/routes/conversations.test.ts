import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import Database from 'better-sqlite3'
import { createKeyStore } from '../../src/store/key-store.ts'
import { openDatabase } from '../../src/store/open.ts'
import { stream } from '../agent/fake-provider.ts'
import { talk, temporaryFolder, tool, until } from '../agent/talk.ts'
import { messageStart } from '../agent/wire.ts'
import { buildTestApp, chat, get, skillMd } from '../build-app.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'

const hanging = stream([messageStart], 'hang')
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

suite('conversations', { concurrency: 2 }, () => {
  test('one is read with its messages, its loaded skills and what it cost', async (t) => {
    const { app, ask } = await talk(t, [load('greet'), say('One.'), say('Two.')], {
      skills: [skillMd('greet', 'BODY-4711')],
    })
    const first = await ask({ message: 'Hi' })
    const { conversation_id } = first
    const next = await ask({ conversation_id, message: 'Again' })
    const { messages, loaded_skills, usage, ...rest } = (
      await get(app, `/conversations/${conversation_id}`)
    ).json()
    assert.deepEqual([rest.id, rest.agent], [conversation_id, 'default'])
    assert.ok(rest.created_at < rest.updated_at)
    const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
    assert.deepEqual(messages, [
      ...[user('Hi'), ...first.messages].map((one) => ({ ...one, turn_id: first.id })),
      ...[user('Again'), ...next.messages].map((one) => ({ ...one, turn_id: next.id })),
    ])
    const [{ name, version, digest }] = first.receipt.loaded
    assert.deepEqual(loaded_skills, [{ name, version, digest }])
    assert.equal(usage.model_calls, 3)
    assert.equal(usage.input_tokens, first.usage.input_tokens + next.usage.input_tokens)
  })

  test('are listed newest first, page by page, each once', async (t) => {
    const app = await buildTestApp(t)
    const made: string[] = []
    for (let at = 0; at < 7; at++) {
      made.unshift((await chat(app, { message: 'Hi' })).json().conversation_id)
    }
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = (await get(app, `/conversations?limit=3${cursor}`)).json()
      seen.push(...idsOf(page))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    assert.deepEqual(seen, made)
    for (const [query, code] of [
      ['limit=0', 'query_invalid'],
      ['limit=101', 'query_invalid'],
      ['limit=x', 'query_invalid'],
      ['page=2', 'query_invalid'],
      ['cursor=x', 'cursor_invalid'],
      ['cursor=', 'cursor_invalid'],
      [`cursor=${Buffer.from('turns\nturn_00000001').toString('base64url')}`, 'cursor_invalid'],
      [`cursor=${Buffer.from('conversations\nconv_1').toString('base64url')}`, 'cursor_invalid'],
    ]) {
      const response = await get(app, `/conversations?${query}`)
      assert.deepEqual([response.statusCode, response.json().code], [400, code], query)
    }
  })

  test('one that is deleted is gone with all it had, also while its turn runs', async (t) => {
    const { app, ask, requests } = await talk(t, [say('One.'), hanging])
    const { conversation_id, id } = await ask({ message: 'Hi' })
    const running = chat(app, { conversation_id, message: 'Again' })
    await until(() => requests.length === 2)
    const path = `/conversations/${conversation_id}`
    const remove = () => app.inject({ method: 'DELETE', url: `/api/v1${path}` })
    assert.equal((await remove()).statusCode, 204)
    assert.equal(await requests[1]?.closed, 'left')
    assert.equal((await running).json().status, 'interrupted')
    for (const more of ['', '/turns', `/turns/${id}`, `/turns/${id}/prompt`, '/tool-results/x']) {
      const response = await get(app, path + more)
      assert.deepEqual([response.statusCode, response.json().code], [404, 'conversation_not_found'])
    }
    assert.equal((await remove()).statusCode, 404)
    assert.equal((await chat(app, { conversation_id, message: 'Hi' })).statusCode, 404)
    assert.deepEqual(idsOf((await get(app, '/conversations')).json()), [])
  })

  test('other ids are those of none', async (t) => {
    const app = await buildTestApp(t)
    await chat(app, { message: 'Hi' })
    const long = 'x'.repeat(900)
    for (const id of ['conv_zzzzzzzz', 'key_00000001', '__proto__', '..%2f..%2fx', '%00', long]) {
      const response = await get(app, `/conversations/${id}`)
      assert.deepEqual([response.statusCode, response.json().code], [404, 'conversation_not_found'])
      const turn = await get(app, `/conversations/conv_00000001/turns/${id}`)
      assert.deepEqual([turn.statusCode, turn.json().code], [404, 'turn_not_found'])
    }
  })
})

test('a conversation is that of its key, and of admins', async (t) => {
  const DATABASE_URL = `sqlite:${await temporaryFolder(t)}/chat.db`
  const db = await openDatabase(DATABASE_URL)
  const keys = createKeyStore(db)
  for (const name of ['ann', 'bob', 'eve']) {
    const hash = createHash('sha256').update(`key-of-${name}`).digest('hex')
    const scopes = name === 'eve' ? (['skills:read'] as const) : (['chat'] as const)
    await keys.insert({
      name,
      scopes: [...scopes],
      expiresAt: null,
      budget: null,
      hash,
      prefix: 'key',
    })
  }
  await db.destroy()
  const admin = 'admin-key-1234567'
  const env = { AUTH: 'keys', ADMIN_KEY: admin, DATABASE_URL, MODEL: 'offline' }
  const app = await buildTestApp(t, { env })
  const as = (key: string) => ({ 'x-api-key': key })
  const say = (key: string, payload: object) =>
    app.inject({ method: 'POST', url: '/api/v1/chat', headers: as(key), payload })

  const { conversation_id, id } = (await say('key-of-ann', { message: 'Hi' })).json()
  const path = `/conversations/${conversation_id}`
  for (const [key, status, length] of [
    ['key-of-ann', 200, 1],
    [admin, 200, 1],
    ['key-of-bob', 404, 0],
  ] as const) {
    for (const more of ['', '/turns', `/turns/${id}`, `/turns/${id}/prompt`]) {
      assert.equal((await get(app, path + more, as(key))).statusCode, status, `${key} ${more}`)
    }
    const cancel = { method: 'POST', url: `/api/v1${path}/cancel`, headers: as(key) } as const
    assert.equal((await app.inject(cancel)).statusCode, status)
    const more = await say(key, { conversation_id, message: 'Again' })
    assert.equal(more.statusCode, status)
    const list = await get(app, '/conversations', as(key))
    assert.equal(list.json().data.length, length)
  }
  const remove = { method: 'DELETE', url: `/api/v1${path}` } as const
  assert.equal((await app.inject({ ...remove, headers: as('key-of-bob') })).statusCode, 404)
  assert.equal((await say('key-of-eve', { message: 'Hi' })).json().code, 'insufficient_scope')
  assert.equal((await say('key-of-nobody', { message: 'Hi' })).statusCode, 401)
  assert.equal((await get(app, path, as('key-of-eve'))).statusCode, 403)
  assert.equal((await app.inject({ ...remove, headers: as(admin) })).statusCode, 204)
})

suite('a process that dies in the middle of a turn', { concurrency: 2 }, () => {
  const batch = atOnce(call('mine', {}, 'call_1'), {
    calls: [{ name: 'load_skill', input: { name: 'greet' }, id: 'call_2' }],
  })
  const edits: [what: string, sql: string, results: [boolean, boolean] | undefined][] = [
    ['while the model answered', '', undefined],
    [
      'before its calls were answered',
      `delete from messages where seq = (select max(seq) from messages);
       update tool_calls set result = null`,
      [true, true],
    ],
  ]
  for (const [what, sql, errors] of edits) {
    test(`${what} leaves it interrupted, and the conversation goes on`, async (t) => {
      const folder = await temporaryFolder(t)
      const skills = [skillMd('greet')]
      const env = { DATABASE_URL: `sqlite:${folder}/chat.db` }
      const {
        app,
        ask,
        env: all,
        requests,
        sent,
      } = await talk(t, [batch, hanging, say('Done.')], { env, skills })
      const tools = [tool('mine')]
      const { conversation_id, id } = await ask({ message: 'Hi', tools })
      const tool_results = [{ call_id: 'call_1', output: 'one' }]
      const running = chat(app, { conversation_id, tool_results })
      await until(() => requests.length === 2)
      const database = new Database(`${folder}/chat.db`)
      database.exec(`vacuum into '${folder}/crashed.db'`)
      database.close()
      await Promise.all([app.close(), running])
      const crashed = new Database(`${folder}/crashed.db`)
      crashed.exec(sql)
      crashed.close()

      const next = await buildTestApp(t, {
        env: { ...all, DATABASE_URL: `sqlite:${folder}/crashed.db` },
      })
      const turn = (await get(next, `/conversations/${conversation_id}/turns/${id}`)).json()
      assert.deepEqual([turn.status, turn.steps, turn.pending], ['interrupted', 1, []])
      const late = await chat(next, { conversation_id, tool_results })
      assert.equal(late.json().code, 'call_not_pending')
      const went = await chat(next, { conversation_id, message: 'Again' })
      assert.equal(went.json().status, 'completed', went.body)
      const results = sent()[2]?.results.map(({ isError }) => isError)
      assert.deepEqual(results, errors ?? [false, false])
    })
  }
})
