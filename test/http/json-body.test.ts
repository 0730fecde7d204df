import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, namesOf, send } from '../requests.ts'

const json = { 'content-type': 'application/json' }
const postJson = (app: TestApp, text: string | Buffer, path = '/skills') =>
  send(app, 'POST', path, { payload: text, headers: json })

test('a body that is no JSON is body_invalid, and never quoted', async (t) => {
  const app = await buildTestApp(t)
  for (const text of [
    '',
    ' ',
    '{',
    '{"content":',
    '{"content":"secret',
    '[1,]',
    "{'a':1}",
    '{"a":1}x',
    'NaN',
    '{"a":0x1}',
    '\ufeff\ufeff{}',
    '{"a":"\n"}',
    '\0',
    '{"content":"secret"} secret',
  ]) {
    const response = await postJson(app, text)
    assert.equal(response.statusCode, 400, JSON.stringify(text))
    assertProblem(response, 400, 'body_invalid')
    assert.doesNotMatch(response.body, /secret/)
  }
})

test('JSON that is no object is body_invalid', async (t) => {
  const app = await buildTestApp(t)
  for (const text of ['null', 'true', '7', '"text"', '[]', '1e999']) {
    assertProblem(await postJson(app, text), 400, 'body_invalid')
  }
})

test('a malformed body is told with its place', async (t) => {
  const app = await buildTestApp(t)
  const problem = assertProblem(await postJson(app, '{\n "a": 1,\n'), 400, 'body_invalid')
  assert.match(problem.detail, /line 3 column 1/)
})

test('bytes that are not UTF-8 are body_invalid', async (t) => {
  const app = await buildTestApp(t)
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
    const body = Buffer.concat([Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')])
    assertProblem(await postJson(app, body), 400, 'body_invalid')
  }
  assertProblem(await postJson(app, Buffer.from('{}', 'utf16le')), 400, 'body_invalid')
})

test('half of a surrogate pair is refused by its field, in values and in keys', async (t) => {
  const app = await buildTestApp(t)
  for (const [text, field] of [
    ['{"content":"\\ud800"}', '/content'],
    ['{"files":[{"path":"\\udc00"}]}', '/files/0/path'],
    ['{"metadata":{"a/b~":{"c":"x\\ud83d"}}}', '/metadata/a~1b~0/c'],
    ['{"metadata":{"\\ud800":1}}', '/metadata'],
  ] as const) {
    const problem = assertProblem(await postJson(app, text), 422, 'lone_surrogate')
    assert.equal(problem.errors[0].field, field)
  }
  const whole = `{"content":${JSON.stringify(skillMd('greet', '😀'))}}`.replace(
    '😀',
    '\\ud83d\\ude00',
  )
  assert.equal((await postJson(app, whole)).statusCode, 201)
})

test('properties that reach for a prototype are refused, and reach none', async (t) => {
  const app = await buildTestApp(t)
  for (const text of [
    '{"__proto__":{"polluted":true}}',
    '{"content":"x","__proto__":null}',
    '{"metadata":{"__proto__":{"polluted":true}}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"\\u005f_proto__":{"polluted":true}}',
  ]) {
    assertProblem(await postJson(app, text), 400, 'body_invalid')
    assertProblem(await postJson(app, text, '/skills/validate'), 400, 'body_invalid')
  }
  assert.equal('polluted' in {}, false)
})

test('names of Object.prototype are properties like others', async (t) => {
  const app = await buildTestApp(t)
  const metadata = { toString: 'a', hasOwnProperty: 'b', valueOf: 'c' }
  const payload = { name: 'greet', description: 'Greets. Use when met.', metadata }
  const response = await send(app, 'POST', '/skills', { payload })
  assert.deepEqual(response.json().metadata, metadata, response.body)
})

test('endless nesting is refused', async (t) => {
  const app = await buildTestApp(t)
  for (const text of [
    `{"metadata":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
  ]) {
    assertProblem(await postJson(app, text), 400, 'body_invalid')
  }
})

test('a skill by parts whose metadata is nested deeper than a file may be is refused, not failed', async (t) => {
  const app = await buildTestApp(t)
  const metadata = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
  const payload = { name: 'greet', description: 'Greets. Use when met.', metadata }
  const response = await send(app, 'POST', '/skills', { payload })
  assertProblem(response, 422, 'frontmatter_too_large')
})

test('the last of two equal keys counts, as JSON.parse has it', async (t) => {
  const app = await buildTestApp(t)
  const content = JSON.stringify(skillMd('greet'))
  assert.equal((await postJson(app, `{"content":"x","content":${content}}`)).statusCode, 201)
})

test('a body over the limit is 413 with both numbers, whether its length is told or not', async (t) => {
  const app = await buildTestApp(t, { env: { MAX_REQUEST_BYTES: '100' } })
  const told = assertProblem(await publish(app, 'x'.repeat(101)), 413, 'body_too_large')
  assert.match(told.detail, /101 .*100 /)
  const lied = await send(app, 'POST', '/skills', {
    payload: 'x'.repeat(10),
    headers: { 'content-type': 'text/markdown', 'content-length': '100000' },
  })
  assertProblem(lied, 413, 'body_too_large')
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('a media type that is not taken is 415', async (t) => {
  const app = await buildTestApp(t)
  for (const type of [
    'image/png',
    'text/html',
    'application/xml',
    'application/json5',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'nonsense',
    'text/markdown2',
    '',
  ]) {
    const headers = { 'content-type': type }
    const response = await send(app, 'POST', '/skills', { payload: 'x', headers })
    assert.equal(response.statusCode, 415, type)
    assertProblem(response, 415, 'media_type')
  }
})

test('JSON with a charset and odd case is JSON', async (t) => {
  const app = await buildTestApp(t)
  const headers = { 'content-type': 'Application/JSON; charset=UTF-8' }
  const payload = JSON.stringify({ content: skillMd('greet') })
  assert.equal((await send(app, 'POST', '/skills', { payload, headers })).statusCode, 201)
})
