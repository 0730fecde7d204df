import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, patch, post, remove, send } from '../requests.ts'

const readable = [
  '/skills',
  '/skills/greet',
  '/skills/greet/content',
  '/skills/greet/content?format=body',
  '/skills/greet/content?format=wrapped',
  '/skills/greet/files',
  '/skills/greet/files/a.txt',
  '/skills/greet/versions',
  '/skills/greet/versions/1',
  '/skills/greet/versions/1/content',
  '/skills/greet/versions/1/files/a.txt',
  '/catalog',
  '/catalog?format=json',
]

async function withSkill(app: TestApp) {
  const files = [{ path: 'a.txt', content: 'A' }]
  const response = await post(app, '/skills', { content: skillMd('greet'), files })
  return String(response.headers.etag)
}

test('every read has a strong tag, and 304 when it is known', async (t) => {
  const app = await buildTestApp(t)
  await withSkill(app)
  for (const path of readable) {
    const { headers } = await get(app, path)
    const etag = String(headers.etag)
    assert.match(etag, /^"[\x21\x23-\x7e]+"$/, path)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"other" ,W/${etag},"more"`, '*']) {
      for (const method of ['GET', 'HEAD'] as const) {
        const response = await send(app, method, path, { headers: { 'if-none-match': known } })
        assert.deepEqual([response.statusCode, response.body], [304, ''], `${path} ${known}`)
        assert.equal(response.headers.etag, etag)
        assert.equal(response.headers['content-type'], undefined)
        assert.match(String(response.headers['x-request-id']), /^req_/)
      }
    }
    for (const unknown of [
      '"other"',
      etag.slice(1, -1),
      `${etag.slice(0, -1)}x"`,
      `${etag} x`,
      '',
    ]) {
      const response = await get(app, path, { 'if-none-match': unknown })
      assert.equal(response.statusCode, 200, `${path} ${unknown}`)
    }
  }
})

test('a refusal is no 304', async (t) => {
  const app = await buildTestApp(t)
  const response = await get(app, '/skills/gone', { 'if-none-match': '*' })
  assertProblem(response, 404, 'skill_not_found')
  assert.equal(response.headers.etag, undefined)
})

test('the tag of a skill changes with all that its JSON says', async (t) => {
  const app = await buildTestApp(t)
  const seen = new Set([await withSkill(app)])
  for (const write of [
    () => patch(app, 'greet', { enabled: false }),
    () => patch(app, 'greet', { license: 'MIT' }),
    () => patch(app, 'greet', { current_version: 1 }),
    () => patch(app, 'greet', { current_version: 2 }),
    () => put(app, 'greet?activate=false', skillMd('greet', 'Draft.')),
    () => put(app, 'greet', skillMd('greet', 'Bye.')),
  ]) {
    const written = await write()
    const { headers } = await get(app, '/skills/greet')
    assert.equal(headers.etag, written.headers.etag)
    assert.ok(!seen.has(String(headers.etag)))
    seen.add(String(headers.etag))
  }
})

const writes = {
  PUT: (app: TestApp, headers: Record<string, string>) =>
    put(app, 'greet', skillMd('greet', 'Bye.'), headers),
  PATCH: (app: TestApp, headers: Record<string, string>) =>
    patch(app, 'greet', { license: 'MIT' }, headers),
  'PATCH of the state': (app: TestApp, headers: Record<string, string>) =>
    patch(app, 'greet', { enabled: false }, headers),
  DELETE: (app: TestApp, headers: Record<string, string>) => remove(app, 'greet', headers),
}

for (const [title, write] of Object.entries(writes)) {
  test(`${title} with If-Match goes on only when it names the skill as it is`, async (t) => {
    const app = await buildTestApp(t)
    const etag = await withSkill(app)
    for (const wrong of ['"other"', `W/${etag}`, `"a", "b"`, `W/"a",W/${etag}`]) {
      assertProblem(await write(app, { 'if-match': wrong }), 412, 'version_conflict')
    }
    assertProblem(await write(app, { 'if-none-match': '*' }), 412, 'version_conflict')
    for (const malformed of [
      etag.slice(1, -1),
      'x',
      '',
      ',',
      `${etag},`,
      `${etag} "b"`,
      '*, "a"',
      `w/${etag}`,
      '"a',
      "'a'",
    ]) {
      const response = await write(app, { 'if-match': malformed })
      assert.equal(response.statusCode, 400, malformed)
      assertProblem(response, 400, 'header_invalid')
    }
    for (const malformed of ['"a"', 'x', '', `*, *`]) {
      assertProblem(await write(app, { 'if-none-match': malformed }), 400, 'header_invalid')
    }
    assertProblem(
      await write(app, { 'if-match': '*', 'if-none-match': '*' }),
      400,
      'header_invalid',
    )
    assert.equal((await get(app, '/skills/greet')).headers.etag, etag)

    const response = await write(app, { 'if-match': `"other" , ${etag}` })
    assert.ok(response.statusCode < 300, response.body)
    if (title === 'DELETE') return
    assertProblem(await write(app, { 'if-match': etag }), 412, 'version_conflict')
    assert.ok((await write(app, { 'if-match': '*' })).statusCode < 300)
  })
}

test('If-Match takes the tag of the content as well', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const { etag } = (await get(app, '/skills/greet/content')).headers
  const headers = { 'if-match': String(etag) }
  assert.equal((await put(app, 'greet', skillMd('greet', 'Bye.'), headers)).statusCode, 200)
  assertProblem(await put(app, 'greet', skillMd('greet'), headers), 412, 'version_conflict')
})

test('If-Match on what is not there is 412 for a write that would make it', async (t) => {
  const app = await buildTestApp(t)
  for (const match of ['*', '"a"']) {
    const response = await put(app, 'greet', skillMd('greet'), { 'if-match': match })
    assertProblem(response, 412, 'version_conflict')
  }
  assertProblem(
    await patch(app, 'greet', { license: 'MIT' }, { 'if-match': '*' }),
    404,
    'skill_not_found',
  )
  assertProblem(await remove(app, 'greet', { 'if-match': '*' }), 404, 'skill_not_found')
})

test('PUT with If-None-Match: * only creates, also when eight do at once', async (t) => {
  const app = await buildTestApp(t)
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      put(app, 'greet', skillMd('greet', `Hello ${index}.`), { 'if-none-match': '*' }),
    ),
  )
  const [created, ...others] = responses.toSorted((a, b) => a.statusCode - b.statusCode)
  assert.equal(created?.statusCode, 201)
  for (const response of others) assertProblem(response, 412, 'version_conflict')
})

test('of eight PUTs that all saw one version, one wins', async (t) => {
  const app = await buildTestApp(t)
  const etag = await withSkill(app)
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      put(app, 'greet', skillMd('greet', `Hello ${index}.`), { 'if-match': etag }),
    ),
  )
  const [won, ...others] = responses.toSorted((a, b) => a.statusCode - b.statusCode)
  assert.deepEqual([won?.statusCode, won?.json().version], [200, 2])
  for (const response of others) assertProblem(response, 412, 'version_conflict')
})

test('of eight PATCHes that all saw one version, one wins', async (t) => {
  const app = await buildTestApp(t)
  const etag = await withSkill(app)
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      patch(app, 'greet', { license: `L${index}` }, { 'if-match': etag }),
    ),
  )
  const won = responses.filter(({ statusCode }) => statusCode === 200)
  assert.equal(won.length, 1)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 2)
})

test('a 412 tells the version that is there', async (t) => {
  const app = await buildTestApp(t)
  await withSkill(app)
  const response = await put(app, 'greet', skillMd('greet'), { 'if-match': '"a"' })
  assert.match(assertProblem(response, 412, 'version_conflict').detail, /version 1/)
})
