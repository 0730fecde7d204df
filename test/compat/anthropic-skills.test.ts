import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { buildTestApp, get } from '../build-app.ts'
import { patch } from '../requests.ts'
import {
  addVersion,
  ask,
  assertRefused,
  BETA,
  create,
  field,
  fileOf,
  GA,
  ok,
  upload,
} from './skills-wire.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

suite('a skill of Anthropic', { concurrency: 2 }, () => {
  test('has the shape of today, and the one of the beta where that is asked for', async (t) => {
    const app = await buildTestApp(t)
    const made = await create(app, GA, 'pdf-tools', field('display_name', 'PDF tools'))
    const { id, latest_version_id, created_at, updated_at } = made
    assert.deepEqual(made, {
      id,
      type: 'skill',
      display_name: 'PDF tools',
      latest_version_id,
      source: { type: 'custom' },
      created_at,
      updated_at,
    })
    assert.match(id, /^skill_/)
    assert.match(latest_version_id, /^skver_/)
    assert.match(created_at, TIME)
    assert.deepEqual(await ok(ask(app, 'GET', `/skills/${id}`, GA)), made)

    const beta = await ok(ask(app, 'GET', `/skills/${id}?beta=true`, BETA))
    const { latest_version } = beta
    assert.deepEqual(beta, {
      id,
      type: 'skill',
      display_title: 'PDF tools',
      latest_version,
      source: 'custom',
      created_at,
      updated_at,
    })
    assert.match(latest_version, /^\d{16}$/)
    assert.equal((await get(app, '/skills/pdf-tools')).json().title, 'PDF tools')
  })

  test('without a display name is shown by its name, in the beta by none', async (t) => {
    const app = await buildTestApp(t)
    const { id, display_name } = await create(app, GA, 'plain')
    assert.equal(display_name, 'plain')
    assert.equal((await ok(ask(app, 'GET', `/skills/${id}`, BETA))).display_title, null)
    const either = await create(app, GA, 'other', field('display_title', 'Other'))
    assert.equal(either.display_name, 'Other')
    const beta = await create(app, BETA, 'third', field('display_name', 'Third'))
    assert.equal(beta.display_title, 'Third')
  })

  test('has a display name on one line of at most 255 characters', async (t) => {
    const app = await buildTestApp(t)
    for (const text of ['', ' ', 'two\nlines', 'x'.repeat(256)]) {
      const refused = await upload(app, '/skills', GA, [field('display_name', text), fileOf('a')])
      assertRefused(refused, 'anthropic', [400, 'invalid_request_error', 'body_invalid'])
    }
    const twice = [field('display_name', 'A'), fileOf('a'), field('display_name', 'B')]
    const refused = await upload(app, '/skills', GA, twice)
    assertRefused(refused, 'anthropic', [400, 'invalid_request_error', 'body_invalid'])
    const fits = '\u{1f600}'.repeat(255)
    assert.equal((await create(app, GA, 'a', field('display_name', fits))).display_name, fits)
  })

  test('is in pages, newest first', async (t) => {
    const app = await buildTestApp(t)
    for (const name of ['one', 'two', 'three']) await create(app, GA, name)
    const first = await ok(ask(app, 'GET', '/skills?limit=2&beta=true', GA))
    assert.deepEqual(
      first.data.map((skill: { display_name: string }) => skill.display_name),
      ['three', 'two'],
    )
    assert.equal(first.has_more, true)
    const last = await ok(ask(app, 'GET', `/skills?limit=2&page=${first.next_page}`, GA))
    assert.deepEqual([last.data.length, last.has_more, last.next_page], [1, false, null])
    assert.equal((await ok(ask(app, 'GET', '/skills?source=custom', GA))).data.length, 3)
    for (const source of ['anthropic', 'x']) {
      const none = await ok(ask(app, 'GET', `/skills?source=${source}`, GA))
      assert.deepEqual(none, { data: [], has_more: false, next_page: null })
    }
    const native = (await get(app, '/skills?limit=1')).json().next_cursor
    for (const query of ['limit=0', 'limit=101', 'limit=1.5', 'page=x', `page=${native}`]) {
      const refused = await ask(app, 'GET', `/skills?${query}`, GA)
      const code = query.startsWith('page') ? 'cursor_invalid' : 'query_invalid'
      assertRefused(refused, 'anthropic', [400, 'invalid_request_error', code])
    }
  })

  test('is deleted with its versions, and one of its name is another one', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'pdf-tools')
    await addVersion(app, GA, { id, name: 'pdf-tools' })
    const deleted = await ok(ask(app, 'DELETE', `/skills/${id}`, GA))
    assert.deepEqual(deleted, { id, type: 'skill_deleted' })
    for (const method of ['GET', 'DELETE'] as const) {
      const gone = await ask(app, method, `/skills/${id}`, GA)
      assertRefused(gone, 'anthropic', [404, 'not_found_error', 'not_found'])
    }
    const again = await create(app, GA, 'pdf-tools')
    assert.notEqual(again.id, id)
    assert.equal((await get(app, '/skills/pdf-tools')).json().version, 1)
  })

  test('of a taken name is a conflict, also when two come at once', async (t) => {
    const app = await buildTestApp(t)
    const answers = await Promise.all(
      [GA, BETA].map((headers) => upload(app, '/skills', headers, [fileOf('same')])),
    )
    const refused = answers.find(({ statusCode }) => statusCode !== 200)
    assert.ok(refused)
    assertRefused(refused, 'anthropic', [409, 'conflict_error', 'skill_exists'])
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  test('stays there while it is disabled', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet')
    await patch(app, 'greet', { enabled: false })
    assert.equal((await ok(ask(app, 'GET', '/skills', GA))).data[0].id, id)
    assert.doesNotMatch((await get(app, '/catalog')).body, /greet/)
  })
})
