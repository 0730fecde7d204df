import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, send } from '../requests.ts'

test('a refusal has the whole shape of a problem', async (t) => {
  const app = await buildTestApp(t)
  const response = await publish(app, '---\nname: greet\ndescription: Use: now\n---\n')
  const { request_id, ...problem } = assertProblem(response, 422, 'frontmatter_yaml')
  const [error] = problem.errors
  assert.deepEqual(Object.keys(problem), ['type', 'title', 'status', 'code', 'detail', 'errors'])
  assert.equal(problem.title, 'The frontmatter is not valid YAML')
  assert.equal(problem.detail, error.message)
  const { message, ...place } = error
  assert.deepEqual(place, {
    code: 'frontmatter_yaml',
    file: 'SKILL.md',
    field: 'description',
    line: 3,
    column: 14,
  })
  assert.match(message, /^SKILL\.md line 3: /)
})

test('a byte that is no UTF-8 is told by its offset', async (t) => {
  const app = await buildTestApp(t)
  const bytes = Buffer.concat([Buffer.from('---\nname: a'), Buffer.from([0xff])])
  const problem = assertProblem(await publish(app, bytes), 422, 'encoding_not_utf8')
  assert.equal(problem.errors[0].offset, 11)
})

test('a route that is not there is 404', async (t) => {
  const app = await buildTestApp(t)
  for (const path of [
    '',
    '/',
    '/nothing',
    '/skills/a/b',
    '/Skills',
    '//skills',
    '/skills/a/versions/1/x',
    '/skills%2f',
  ]) {
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      const response = await send(app, method, path)
      assert.equal(response.statusCode, 404, `${method} ${path}`)
      assertProblem(response, 404, 'route_not_found')
    }
  }
})

test('a method that is not taken is 405 with the ones that are', async (t) => {
  const app = await buildTestApp(t)
  for (const [method, path, allow] of [
    ['DELETE', '/skills', 'GET, HEAD, POST'],
    ['PUT', '/skills', 'GET, HEAD, POST'],
    ['OPTIONS', '/skills', 'GET, HEAD, POST'],
    ['POST', '/skills/greet', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['POST', `/skills/${'x'.repeat(5000)}`, 'DELETE, GET, HEAD, PATCH, PUT'],
    ['PUT', '/skills/greet/content', 'GET, HEAD'],
    ['DELETE', '/skills/greet/versions', 'GET, HEAD'],
    ['PUT', '/skills/greet/versions/1', 'DELETE, GET, HEAD'],
    ['POST', '/catalog', 'GET, HEAD'],
    ['GET', '/chat', 'POST'],
  ] as const) {
    const response = await send(app, method, path)
    assert.equal(response.headers.allow, allow, `${method} ${path}`)
    assertProblem(response, 405, 'method_not_allowed')
  }
  for (const [method, path] of [
    ['POST', '/health'],
    ['DELETE', '/ready'],
  ] as const) {
    assertProblem(await app.inject({ method, url: path }), 405, 'method_not_allowed')
  }
})

test('a path that is no URL path is 400', async (t) => {
  const app = await buildTestApp(t)
  for (const path of [
    '/skills/%ff',
    '/skills/%',
    '/skills/%zz',
    '/skills/a/files/%c0%af',
    '/%ff',
  ]) {
    assertProblem(await get(app, path), 400, 'request_invalid')
  }
})

test('every answer has a request id of its own, which no caller chooses', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const headers = { 'x-request-id': 'mine', 'request-id': 'mine' }
  const seen = new Set<unknown>()
  const urls = [
    '/health',
    '/ready',
    '/metrics',
    '/docs',
    '/openapi.json',
    '/openapi.yaml',
    '/nothing',
    '/%ff',
    '/api/v1/skills',
    '/api/v1/skills/greet',
    '/api/v1/skills/gone',
    '/api/v1/skills?limit=0',
    '/api/v1/catalog',
  ]
  for (const url of urls) {
    for (const method of ['GET', 'HEAD', 'POST'] as const) {
      const response = await app.inject({ method, url, headers })
      assert.match(
        String(response.headers['x-request-id']),
        /^req_[\da-f-]{36}$/,
        `${method} ${url}`,
      )
      seen.add(response.headers['x-request-id'])
    }
  }
  assert.equal(seen.size, 3 * urls.length)
})

const long = 'x'.repeat(20_000)
const nasty: [path: string, body: string | Buffer | object][] = [
  ['/skills', ''],
  ['/skills', '\0'],
  ['/skills', '---'],
  ['/skills', '---\n---\n'],
  ['/skills', '---\nname: !!js/function x\ndescription: x\n---\n'],
  ['/skills', `---\nname: a\ndescription: ${'['.repeat(5000)}\n---\n`],
  ['/skills', `---\n${'a: &a [*a]\n'.repeat(5)}---\n`],
  ['/skills', `---\n? ${'x'.repeat(2000)}\n: y\n---\n`],
  ['/skills', '---\nname: a\ndescription: "\\ud800"\n---\n'],
  ['/skills', '---\n__proto__: {a: b}\nconstructor: x\nname: a\ndescription: b\n---\n'],
  ['/skills', Buffer.from([0xff, 0xfe, 0x2d, 0, 0x2d, 0])],
  ['/skills', Buffer.alloc(100_000, 0x80)],
  ['/skills', `---\nname: ${long}\ndescription: ${long}\n---\n`],
  ['/skills?name=%00', 'text'],
  ['/skills?name=%ud800', 'text'],
  ['/skills?note=%00', skillMd('noted')],
  [`/skills?name=${'a-'.repeat(3000)}`, 'Text.'],
  ['/skills?mode[]=strict', skillMd('greet')],
  ['/skills', { content: '\u0000' }],
  ['/skills', { name: '__proto__', description: 'x' }],
  ['/skills', { name: 'constructor', description: 'A word. Use when asked.' }],
  ['/skills', { name: 'a', description: '\u2028\u0085---\n---\n' }],
  ['/skills', { name: 'a', description: 'x', metadata: { '': { '': [] }, 'a\nb': null } }],
  ['/skills', { name: 'a', description: 'x', tags: ['\0', '', ','] }],
  ['/skills', { name: 'a', description: 'x', allowed_tools: [')(', '\n', ''] }],
  ['/skills', { content: skillMd('a'), files: [{ path: '\ud83d\ude00/\u202e', content: '' }] }],
  ['/skills', { content: skillMd('a'), files: [{ path: 'skill.MD/x', content: '' }] }],
  ['/skills', { content: skillMd('a'), files: [{ path: '.', content: '' }] }],
  ['/skills', { content: skillMd('a'), files: Array(2000).fill({ path: 'a', content: '' }) }],
]

for (const mode of ['strict', 'lenient']) {
  test(`nothing that is sent in ${mode} mode makes the service fail`, async (t) => {
    const app = await buildTestApp(t)
    for (const [path, payload] of nasty) {
      const url = `${path}${path.includes('?') ? '&' : '?'}mode=${mode}`
      const plain = typeof payload === 'string' || Buffer.isBuffer(payload)
      const type = plain ? 'text/markdown' : 'application/json'
      const headers = { 'content-type': type }
      for (const target of [
        url,
        url.replace('/skills', '/skills/validate'),
        url.replace('/skills', '/skills/put'),
      ]) {
        const method = target.startsWith('/skills/put') ? 'PUT' : 'POST'
        const response = await send(app, method, target, { payload, headers })
        const what = `${target.slice(0, 80)} ${JSON.stringify(payload).slice(0, 80)}: ${response.body}`
        assert.ok(response.statusCode < 500, what)
        if (response.statusCode >= 400)
          assertProblem(response, response.statusCode, response.json().code)
      }
    }
    for (const { name } of (await get(app, '/skills?limit=100')).json().data) {
      assert.equal((await get(app, `/skills/${name}`)).statusCode, 200)
      assert.equal((await get(app, `/skills/${name}/content?format=wrapped`)).statusCode, 200)
    }
    assert.equal((await get(app, '/catalog')).statusCode, 200)
  })
}

test('nothing that is asked for makes the service fail', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const path of [
    '/skills?tag=%00&tool=%00',
    `/skills?tag=${long.slice(0, 9000)}`,
    '/skills?cursor=%00',
    '/skills?limit=NaN',
    '/skills?&&&==',
    '/skills?%ff',
    '/skills?limit=%ff',
    '/skills/%00/versions/1',
    '/skills/greet/versions/1e9',
    '/skills/greet/files/%00',
    '/skills/greet/files/%E2%80%AE',
    '/skills/%ED%A0%80',
    '/catalog?name=%00&tag=%00',
    '/catalog?max_tokens=1&format=json',
  ]) {
    for (const headers of [{}, { accept: '\u00ff' }, { 'if-none-match': '"'.repeat(5000) }]) {
      const response = await get(app, path, headers as Record<string, string>)
      assert.ok(response.statusCode < 500, `${path}: ${response.body}`)
      assert.ok(response.headers['x-request-id'])
    }
  }
})

test('a header of many commas is refused quickly', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const started = performance.now()
  for (const match of [
    `${'"a" ,'.repeat(2500)}x`,
    `${' '.repeat(15_000)}x`,
    `"${'\\'.repeat(15_000)}`,
  ]) {
    assertProblem(
      await put(app, 'greet', skillMd('greet'), { 'if-match': match }),
      400,
      'header_invalid',
    )
  }
  assert.ok(performance.now() - started < 2000)
})

async function talk(t: TestContext, app: TestApp, text: string) {
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.end(text)
  const chunks = await socket.toArray()
  if (!socket.closed) await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { head, body }
}

for (const [title, text, status] of [
  ['is no HTTP', 'nonsense\r\n\r\n', 400],
  ['has a header that is none', 'GET / HTTP/1.1\r\nhost: localhost\r\nx y: z\r\n\r\n', 400],
  [
    'is longer than a request may be',
    `GET /api/v1/skills/${long} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    431,
  ],
] as const) {
  test(`what ${title} is a problem with ${status}`, async (t) => {
    const { head, body } = await talk(t, await buildTestApp(t), text)
    const problem = JSON.parse(body)
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(head, /^content-type: application\/problem\+json; charset=utf-8\r?$/m)
    assert.ok(head.includes(`x-request-id: ${problem.request_id}`))
    assert.deepEqual([problem.status, problem.code], [status, 'request_invalid'])
  })
}

test('a path is not resolved on the way to a skill', async (t) => {
  for (const path of [
    '/api/v1/skills/..',
    '/api/v1/skills/../../etc/passwd',
    '/api/v1/skills/./greet',
  ]) {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet'))
    const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`
    assert.match((await talk(t, app, request)).head, /^HTTP\/1.1 404 /)
  }
})
