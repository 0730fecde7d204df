import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { unzipSync } from 'fflate'
import { buildTestApp, get, publish, skillMd } from '../build-app.ts'
import { patch } from '../requests.ts'
import {
  addVersion,
  ask,
  assertRefused,
  create,
  field,
  fileOf,
  OPENAI,
  ok,
  upload,
} from './skills-wire.ts'

const invalid = (code: string): [number, string, string] => [400, 'invalid_request_error', code]
const NOT_FOUND: [number, string, string] = [404, 'invalid_request_error', 'not_found']

suite('a skill of OpenAI', { concurrency: 2 }, () => {
  test('has the shape of their API', async (t) => {
    const app = await buildTestApp(t)
    const before = Math.floor(Date.now() / 1000)
    const made = await create(app, OPENAI, 'greet')
    assert.deepEqual(made, {
      id: made.id,
      object: 'skill',
      name: 'greet',
      description: 'Says hello to whoever comes in. Use when somebody greets.',
      created_at: made.created_at,
      default_version: '1',
      latest_version: '1',
    })
    assert.ok(Number.isInteger(made.created_at) && made.created_at >= before)
    assert.deepEqual(await ok(ask(app, 'GET', `/skills/${made.id}`, OPENAI)), made)
  })

  test('is in pages by creation, of which any id may be the end', async (t) => {
    const app = await buildTestApp(t)
    const ids: string[] = []
    for (const name of ['c', 'a', 'b']) ids.push((await create(app, OPENAI, name)).id)
    const [first, second, third] = ids
    const list = async (query: string) => {
      const { data, ...rest } = await ok(ask(app, 'GET', `/skills?${query}`, OPENAI))
      return { ids: data.map(({ id }: { id: string }) => id), ...rest }
    }
    const page = { object: 'list', has_more: false }
    assert.deepEqual(await list('limit=2&user=x'), {
      ...page,
      ids: [third, second],
      first_id: third,
      last_id: second,
      has_more: true,
    })
    assert.deepEqual(await list(`limit=2&after=${second}`), {
      ...page,
      ids: [first],
      first_id: first,
      last_id: first,
    })
    assert.deepEqual((await list('order=asc')).ids, ids)
    const none = { ...page, ids: [], first_id: null, last_id: null }
    assert.deepEqual(await list('limit=0'), none)
    assert.deepEqual(await list(`order=asc&after=${third}`), none)
    await ok(ask(app, 'DELETE', `/skills/${third}`, OPENAI))
    assert.deepEqual((await list(`after=${third}`)).ids, [second, first])

    for (const after of ['skill_zzzzzzzz', 'skill_00000000', 'x', '']) {
      const refused = await ask(app, 'GET', `/skills?after=${after}`, OPENAI)
      const { param } = assertRefused(refused, 'openai', invalid('query_invalid'))
      assert.equal(param, 'after')
    }
    for (const query of ['limit=-1', 'limit=101', 'limit=2.5', 'order=up']) {
      const refused = await ask(app, 'GET', `/skills?${query}`, OPENAI)
      const { param } = assertRefused(refused, 'openai', invalid('query_invalid'))
      assert.equal(param, query.split('=')[0])
    }
  })

  test('is deleted with its versions', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    await addVersion(app, OPENAI, { id, name: 'greet' })
    const deleted = await ok(ask(app, 'DELETE', `/skills/${id}`, OPENAI))
    assert.deepEqual(deleted, { id, object: 'skill.deleted', deleted: true })
    const gone = await ask(app, 'GET', `/skills/${id}`, OPENAI)
    const { message } = assertRefused(gone, 'openai', NOT_FOUND)
    assert.equal(message, `Skill ${id} not found`)
    assert.equal((await get(app, '/skills/greet')).statusCode, 404)
  })

  test('that was stored natively, without a current version, shows its newest one', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet'), '?activate=false')
    const [skill] = (await ok(ask(app, 'GET', '/skills', OPENAI))).data
    assert.deepEqual([skill.default_version, skill.latest_version], ['1', '1'])
    const content = await ask(app, 'GET', `/skills/${skill.id}/content`, OPENAI)
    assert.equal(content.statusCode, 200)
  })
})

suite('the default version', { concurrency: 2 }, () => {
  test('is the first one, until another is made it', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    const second = await addVersion(app, OPENAI, { id, name: 'greet', body: 'Two.' })
    assert.deepEqual(second, {
      id: second.id,
      object: 'skill.version',
      skill_id: id,
      version: '2',
      name: 'greet',
      description: 'Says hello to whoever comes in. Use when somebody greets.',
      created_at: second.created_at,
    })
    assert.equal((await get(app, '/skills/greet')).json().version, 1)
    const files = [fileOf('greet', 'Three.'), field('default', 'true')]
    await ok(upload(app, `/skills/${id}/versions`, OPENAI, files.toReversed()))
    assert.equal((await get(app, '/skills/greet')).json().version, 3)

    for (const version of ['2', 2, second.id]) {
      await ok(ask(app, 'POST', `/skills/${id}`, OPENAI, { default_version: '1' }))
      const body = { default_version: version, other: 1 }
      const skill = await ok(ask(app, 'POST', `/skills/${id}`, OPENAI, body))
      assert.deepEqual([skill.default_version, skill.latest_version], ['2', '3'])
    }
    assert.equal((await get(app, '/skills/greet')).json().version, 2)
    const latest = await ok(ask(app, 'GET', `/skills/${id}/versions/latest`, OPENAI))
    assert.equal(latest.version, '3')
  })

  test('that is not there is 404, and one that is none is 400', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    for (const version of ['2', 2, 'latest', 'x', '']) {
      const refused = await ask(app, 'POST', `/skills/${id}`, OPENAI, { default_version: version })
      assertRefused(refused, 'openai', NOT_FOUND)
    }
    for (const body of [{}, { default_version: null }, { default_version: 0 }, []]) {
      const refused = await ask(app, 'POST', `/skills/${id}`, OPENAI, body)
      assertRefused(refused, 'openai', invalid('body_invalid'))
    }
    const empty = await ask(app, 'POST', `/skills/${id}`, OPENAI)
    assertRefused(empty, 'openai', invalid('body_invalid'))
    for (const text of ['yes', '1', 'TRUE', '']) {
      const parts = [field('default', text), fileOf('greet')]
      const refused = await upload(app, `/skills/${id}/versions`, OPENAI, parts)
      const { param } = assertRefused(refused, 'openai', invalid('body_invalid'))
      assert.equal(param, 'default')
    }
  })

  test('is what a skill says and holds', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    await addVersion(app, OPENAI, { id, name: 'greet', body: 'Two.' })
    const bodyOf = async (path: string) => {
      const content = await ask(app, 'GET', `/skills/${id}${path}`, OPENAI)
      assert.equal(content.headers['content-type'], 'application/zip', content.body)
      return Buffer.from(unzipSync(content.rawPayload)['greet/SKILL.md'] ?? []).toString()
    }
    assert.match(await bodyOf('/content'), /Say hello/)
    assert.match(await bodyOf('/versions/2/content'), /Two/)
    await patch(app, 'greet', { description: 'Greets in two ways. Use when somebody comes.' })
    const { default_version, description } = await ok(ask(app, 'GET', `/skills/${id}`, OPENAI))
    assert.deepEqual([default_version, description.slice(0, 6)], ['3', 'Greets'])
  })

  test('is not deleted while there are others, and with it the last of them', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    const second = await addVersion(app, OPENAI, { id, name: 'greet' })
    const refused = await ask(app, 'DELETE', `/skills/${id}/versions/1`, OPENAI)
    assertRefused(refused, 'openai', invalid('default_version'))
    const deleted = await ok(ask(app, 'DELETE', `/skills/${id}/versions/2`, OPENAI))
    assert.deepEqual(deleted, {
      id: second.id,
      object: 'skill.version.deleted',
      deleted: true,
      version: '2',
    })
    const skill = await ok(ask(app, 'GET', `/skills/${id}`, OPENAI))
    assert.equal(skill.latest_version, '1')
    assert.equal((await addVersion(app, OPENAI, { id, name: 'greet' })).version, '3')
    await ok(ask(app, 'DELETE', `/skills/${id}/versions/3`, OPENAI))
    await ok(ask(app, 'DELETE', `/skills/${id}/versions/1`, OPENAI))
    assert.equal((await ask(app, 'GET', `/skills/${id}`, OPENAI)).statusCode, 404)
    assert.equal((await create(app, OPENAI, 'greet')).latest_version, '1')
  })
})

suite('versions of OpenAI', { concurrency: 2 }, () => {
  test('are in pages that go on behind an id', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    const second = await addVersion(app, OPENAI, { id, name: 'greet' })
    const third = await addVersion(app, OPENAI, { id, name: 'greet' })
    const list = async (query: string) =>
      await ok(ask(app, 'GET', `/skills/${id}/versions?${query}`, OPENAI))
    const numbers = (page: { data: { version: string }[] }) => page.data.map((v) => v.version)
    const page = await list('limit=2')
    assert.deepEqual(numbers(page), ['3', '2'])
    assert.deepEqual([page.first_id, page.last_id, page.has_more], [third.id, second.id, true])
    assert.deepEqual(numbers(await list(`after=${second.id}`)), ['1'])
    await ok(ask(app, 'DELETE', `/skills/${id}/versions/2`, OPENAI))
    assert.deepEqual(numbers(await list(`order=asc&after=${second.id}`)), ['3'])

    await create(app, OPENAI, 'other')
    const other = (await ok(ask(app, 'GET', '/skills?limit=1', OPENAI))).data[0].id
    const [foreign] = (await ok(ask(app, 'GET', `/skills/${other}/versions`, OPENAI))).data
    for (const after of [foreign.id, 'skver_zzzzzzzz', id, '3']) {
      const refused = await ask(app, 'GET', `/skills/${id}/versions?after=${after}`, OPENAI)
      assertRefused(refused, 'openai', invalid('query_invalid'))
    }
  })
})
