import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { unzipSync } from 'fflate'
import { buildTestApp, get, put, skillMd } from '../build-app.ts'
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
  OPENAI,
  ok,
  upload,
} from './skills-wire.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

suite('a version of Anthropic', { concurrency: 2 }, () => {
  test('is current at once, and new also for the same bytes', async (t) => {
    const app = await buildTestApp(t)
    const { id, latest_version_id } = await create(app, GA, 'greet')
    const version = await addVersion(app, GA, { id, name: 'greet' })
    assert.notEqual(version.id, latest_version_id)
    assert.deepEqual(version, {
      id: version.id,
      type: 'skill_version',
      skill_id: id,
      name: 'greet',
      description: 'Says hello to whoever comes in. Use when somebody greets.',
      created_at: version.created_at,
    })
    assert.match(version.created_at, TIME)
    assert.equal((await get(app, '/skills/greet')).json().version, 2)
    assert.equal((await put(app, 'greet', skillMd('greet'))).json().version, 2)

    const beta = await addVersion(app, BETA, { id, name: 'greet' })
    assert.deepEqual(beta, {
      id: beta.id,
      type: 'skill_version',
      skill_id: id,
      version: beta.version,
      directory: 'greet',
      name: 'greet',
      description: version.description,
      created_at: beta.created_at,
    })
    const skill = await ok(ask(app, 'GET', `/skills/${id}`, BETA))
    assert.equal(skill.latest_version, beta.version)
  })

  test('is named by its id, its epoch, its number or as the latest', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet')
    const { id: version, version: epoch } = await addVersion(app, BETA, { id, name: 'greet' })
    for (const headers of [GA, BETA, OPENAI]) {
      for (const reference of [version, epoch, '2', 'latest']) {
        const found = await ok(ask(app, 'GET', `/skills/${id}/versions/${reference}`, headers))
        assert.equal(found.id, version)
      }
    }
    const other = await create(app, GA, 'other')
    for (const reference of [version, epoch, '2', '02', '0', 'x', '-1', '9'.repeat(20)]) {
      const path = `/skills/${other.id}/versions/${reference}`
      for (const method of ['GET', 'DELETE'] as const) {
        const refused = await ask(app, method, path, GA)
        assertRefused(refused, 'anthropic', [404, 'not_found_error', 'not_found'])
      }
    }
    const latest = await ask(app, 'DELETE', `/skills/${id}/versions/latest`, GA)
    assertRefused(latest, 'anthropic', [404, 'not_found_error', 'not_found'])
  })

  test('is the latest by its number, whatever is current', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet')
    const second = await addVersion(app, GA, { id, name: 'greet' })
    await patch(app, 'greet', { current_version: 1 })
    assert.equal((await ok(ask(app, 'GET', `/skills/${id}`, GA))).latest_version_id, second.id)
    const latest = await ok(ask(app, 'GET', `/skills/${id}/versions/latest`, GA))
    assert.equal(latest.id, second.id)
  })

  test('is in pages of its skill, newest first', async (t) => {
    const app = await buildTestApp(t)
    const { id, latest_version_id } = await create(app, GA, 'greet')
    const { id: second } = await addVersion(app, GA, { id, name: 'greet' })
    const { id: third } = await addVersion(app, GA, { id, name: 'greet' })
    const first = await ok(ask(app, 'GET', `/skills/${id}/versions?limit=2`, GA))
    const ids = (page: { data: { id: string }[] }) => page.data.map((version) => version.id)
    assert.deepEqual(ids(first), [third, second])
    const rest = `/skills/${id}/versions?limit=2&page=${first.next_page}`
    assert.deepEqual(ids(await ok(ask(app, 'GET', rest, GA))), [latest_version_id])

    const other = await create(app, GA, 'other')
    const foreign = `/skills/${other.id}/versions?page=${first.next_page}`
    const refused = await ask(app, 'GET', foreign, GA)
    assertRefused(refused, 'anthropic', [400, 'invalid_request_error', 'cursor_invalid'])
    const unknown = await ask(app, 'GET', '/skills/skill_zzzzzzzz/versions', GA)
    assertRefused(unknown, 'anthropic', [404, 'not_found_error', 'not_found'])
  })

  test('is downloaded as a zip with one folder', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet', { fileName: 'greet/a/b.md', data: 'B' })
    const path = `/skills/${id}/versions/latest/content`
    const content = await ask(app, 'GET', path, GA)
    assert.equal(content.statusCode, 200)
    assert.equal(content.headers['content-type'], 'application/zip')
    assert.equal(content.headers['content-disposition'], 'attachment; filename="greet.zip"')
    assert.equal(content.headers['request-id'], content.headers['x-request-id'])
    const files = unzipSync(content.rawPayload)
    assert.deepEqual(Object.keys(files).sort(), ['greet/SKILL.md', 'greet/a/b.md'])
    const head = await ask(app, 'HEAD', path, GA)
    assert.deepEqual([head.statusCode, head.body], [200, ''])
  })

  test('that is deleted leaves the newest that remains as the current one', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet')
    const { id: second } = await addVersion(app, GA, { id, name: 'greet', body: 'Two.' })
    const { id: third, version } = await addVersion(app, BETA, { id, name: 'greet', body: '3' })
    const beta = await ok(ask(app, 'DELETE', `/skills/${id}/versions/${third}`, BETA))
    assert.deepEqual(beta, { id: version, type: 'skill_version_deleted' })
    const skill = (await get(app, '/skills/greet')).json()
    assert.deepEqual([skill.version, skill.body], [2, 'Two.\n'])
    const current = await ok(ask(app, 'DELETE', `/skills/${id}/versions/${second}`, GA))
    assert.deepEqual(current, { id: second, type: 'skill_version_deleted' })
    assert.equal((await addVersion(app, BETA, { id, name: 'greet' })).version > version, true)
    assert.equal((await get(app, '/skills/greet')).json().version, 4)
  })

  test('that is the last one stays, as the skill needs one', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, GA, 'greet')
    const refused = await ask(app, 'DELETE', `/skills/${id}/versions/1`, GA)
    assertRefused(refused, 'anthropic', [400, 'invalid_request_error', 'last_version'])
    assert.equal((await get(app, '/skills/greet')).statusCode, 200)
  })
})

suite('a skill without versions', { concurrency: 2 }, () => {
  test('is a shell, which the beta alone sees', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, BETA, 'greet', field('display_title', 'Greeting'))
    const busy = await ask(app, 'DELETE', `/skills/${id}`, BETA)
    assertRefused(busy, 'anthropic', [400, 'invalid_request_error', 'skill_not_empty'])
    await ok(ask(app, 'DELETE', `/skills/${id}/versions/1`, BETA))

    const shell = await ok(ask(app, 'GET', `/skills/${id}`, BETA))
    assert.deepEqual([shell.latest_version, shell.display_title], [null, 'Greeting'])
    const list = await ok(ask(app, 'GET', '/skills', BETA))
    assert.deepEqual(list.data, [shell])
    const versions = await ok(ask(app, 'GET', `/skills/${id}/versions`, BETA))
    assert.deepEqual(versions, { data: [], has_more: false, next_page: null })

    for (const headers of [GA, OPENAI]) {
      assert.deepEqual((await ok(ask(app, 'GET', '/skills', headers))).data, [])
      for (const path of [`/skills/${id}`, `/skills/${id}/versions`]) {
        assert.equal((await ask(app, 'GET', path, headers)).statusCode, 404, path)
      }
      assert.equal((await ask(app, 'DELETE', `/skills/${id}`, headers)).statusCode, 404)
      const into = await upload(app, `/skills/${id}/versions`, headers, [fileOf('greet')])
      assert.equal(into.statusCode, 404)
    }
    assert.equal((await get(app, '/skills/greet')).statusCode, 404)

    const version = await addVersion(app, BETA, { id, name: 'greet' })
    const again = await ok(ask(app, 'GET', `/skills/${id}`, BETA))
    assert.equal(again.latest_version, version.version)
    const native = (await get(app, '/skills/greet')).json()
    assert.deepEqual([native.id, native.version, native.title], [id, 2, 'Greeting'])
  })

  test('is deleted by the beta, and frees its name at once', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, BETA, 'greet')
    await ok(ask(app, 'DELETE', `/skills/${id}/versions/1`, BETA))
    const other = await create(app, GA, 'greet')
    assert.notEqual(other.id, id)
    const taken = await upload(app, `/skills/${id}/versions`, BETA, [fileOf('greet')])
    assertRefused(taken, 'anthropic', [409, 'conflict_error', 'skill_exists'])
    const deleted = await ok(ask(app, 'DELETE', `/skills/${id}`, BETA))
    assert.deepEqual(deleted, { id, type: 'skill_deleted' })
    assert.equal((await ask(app, 'GET', `/skills/${id}`, BETA)).statusCode, 404)
    assert.equal((await ok(ask(app, 'GET', '/skills', BETA))).data[0].id, other.id)
  })
})
