import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, post, send } from '../requests.ts'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

const png = Buffer.from([0x89, 0x50, 0, 255, 13, 10])

async function withFiles(app: TestApp) {
  const response = await post(app, '/skills', {
    content: skillMd('greet'),
    files: [
      { path: 'scripts/größe 名.sh', content: 'echo "hi"\r\n' },
      { path: 'logo.png', content: png.toString('base64'), encoding: 'base64' },
      { path: 'page.html', content: '<script>alert(1)</script>' },
      { path: 'no-type', content: '' },
      { path: 'docs/SKILL.md', content: 'deeper' },
    ],
  })
  assert.equal(response.statusCode, 201, response.body)
}

test('content is the file byte for byte, its body, or what load_skill returns', async (t) => {
  const app = await buildTestApp(t)
  const source = Buffer.from(
    '\ufeff---\r\nname: greet\r\ndescription: Greets. Use when met.\r\n---\r\n\r\n\r\nHi.\r\nBye.',
  )
  await publish(app, source)
  const raw = await get(app, '/skills/greet/content')
  assert.deepEqual(raw.rawPayload, source)
  assert.equal(raw.headers.etag, `"sha256:${sha256(source)}"`)
  assert.equal(raw.headers['content-type'], 'text/markdown; charset=utf-8')
  assert.equal(raw.headers['x-content-type-options'], 'nosniff')
  assert.deepEqual((await get(app, '/skills/greet/content?format=raw')).rawPayload, source)

  const body = await get(app, '/skills/greet/content?format=body')
  assert.equal(body.body, 'Hi.\nBye.')
  const wrapped = await get(app, '/skills/greet/content?format=wrapped')
  assert.equal(wrapped.body, '<skill name="greet" version="1">\nHi.\nBye.\n</skill>')
  const tags = [raw, body, wrapped].map(({ headers }) => headers.etag)
  assert.equal(new Set(tags).size, 3)
})

test('the wrapping tag has a suffix when the body holds the closing one, and lists the files', async (t) => {
  const app = await buildTestApp(t)
  const files = [{ path: 'a.txt', content: '' }]
  await post(app, '/skills', { content: skillMd('greet', 'Beware of </skill>.'), files })
  const { body } = await get(app, '/skills/greet/content?format=wrapped')
  assert.ok(
    body.startsWith('<skill-2 name="greet" version="1">\nBeware of </skill>.\n</skill-2>\n'),
  )
  assert.match(body, /^- a\.txt$/m)
})

test('the content of a version stays what it was', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'One.'))
  await put(app, 'greet', skillMd('greet', 'Two.'))
  assert.equal((await get(app, '/skills/greet/versions/1/content')).body, skillMd('greet', 'One.'))
  assert.equal((await get(app, '/skills/greet/versions/1/content?format=body')).body, 'One.\n')
  assert.match(
    (await get(app, '/skills/greet/versions/1/content?format=wrapped')).body,
    /version="1"/,
  )
  assert.equal((await get(app, '/skills/greet/content')).body, skillMd('greet', 'Two.'))
})

test('files are listed with size, hash and type, without SKILL.md', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  const { data } = (await get(app, '/skills/greet/files')).json()
  const shell = Buffer.from('echo "hi"\r\n')
  assert.deepEqual(
    data.map(({ path }: { path: string }) => path),
    ['docs/SKILL.md', 'logo.png', 'no-type', 'page.html', 'scripts/größe 名.sh'],
  )
  assert.deepEqual(data.at(-1), {
    path: 'scripts/größe 名.sh',
    size: shell.length,
    sha256: sha256(shell),
    media_type: 'application/x-sh',
  })
  assert.deepEqual((await get(app, '/skills/greet')).json().files, data)
  assert.deepEqual((await get(app, '/skills/greet/versions/1/files')).json(), { data })
})

test('the digest of a bundle is that of its manifest, as sha256sum prints it', async (t) => {
  const app = await buildTestApp(t)
  const files = [
    { path: 'b.txt', content: 'B' },
    { path: 'A.txt', content: 'A' },
  ]
  const response = await post(app, '/skills', { content: skillMd('greet'), files })
  const lines = [
    `${sha256('A')}  A.txt`,
    `${sha256(skillMd('greet'))}  SKILL.md`,
    `${sha256('B')}  b.txt`,
  ]
  assert.equal(response.json().digest, `sha256:${sha256(`${lines.join('\n')}\n`)}`)
  assert.equal(response.json().size, skillMd('greet').length + 2)
})

test('a file comes with its exact bytes, as an attachment that is not sniffed', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  for (const [path, type, disposition, bytes] of [
    ['logo.png', 'image/png', 'attachment; filename=logo.png', png],
    [
      'page.html',
      'text/html',
      'attachment; filename=page.html',
      Buffer.from('<script>alert(1)</script>'),
    ],
    ['no-type', 'application/octet-stream', 'attachment; filename=no-type', Buffer.alloc(0)],
    ['docs/SKILL.md', 'text/markdown', 'attachment; filename=SKILL.md', Buffer.from('deeper')],
    ['SKILL.md', 'text/markdown', 'attachment; filename=SKILL.md', Buffer.from(skillMd('greet'))],
  ] as const) {
    for (const base of ['/skills/greet', '/skills/greet/versions/1']) {
      const response = await get(app, `${base}/files/${path}`)
      assert.equal(response.statusCode, 200, path)
      assert.deepEqual(response.rawPayload, bytes)
      assert.equal(String(response.headers['content-type']).split(';')[0], type)
      assert.equal(response.headers['content-disposition'], disposition)
      assert.equal(response.headers['x-content-type-options'], 'nosniff')
      assert.equal(response.headers.etag, `"sha256:${sha256(bytes)}"`)
      assert.equal(response.headers['content-length'], `${bytes.length}`)
    }
  }
})

test('a file whose name is not ASCII is found, and keeps its name in the download', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  const response = await get(app, `/skills/greet/files/${encodeURI('scripts/größe 名.sh')}`)
  assert.equal(response.body, 'echo "hi"\r\n')
  const name = "filename*=UTF-8''gr%C3%B6%C3%9Fe%20%E5%90%8D.sh"
  assert.ok(String(response.headers['content-disposition']).endsWith(name))
})

test('HEAD and If-None-Match work on files too', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  const head = await send(app, 'HEAD', '/skills/greet/files/logo.png')
  assert.deepEqual([head.statusCode, head.headers['content-length'], head.body], [200, '6', ''])
  const etag = String(head.headers.etag)
  const response = await get(app, '/skills/greet/files/logo.png', { 'if-none-match': etag })
  assert.deepEqual([response.statusCode, response.body], [304, ''])
})

test('a path that is no file of the skill is 404, however it is written', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  for (const path of [
    'nothing',
    '',
    'scripts',
    'scripts/',
    'LOGO.PNG',
    'logo.png/',
    '/logo.png',
    '..%2f..%2fetc%2fpasswd',
    'logo.png%00',
    'x'.repeat(5000),
  ]) {
    const response = await get(app, `/skills/greet/files/${path}`)
    assert.equal(response.json().code, 'file_not_found', path)
    assertProblem(response, 404, 'file_not_found')
  }
  assertProblem(await get(app, '/skills/great/files/logo.png'), 404, 'skill_not_found')
  assertProblem(await get(app, '/skills/greet/versions/9/files/logo.png'), 404, 'version_not_found')
})

test('files that a version no longer has are kept in the earlier one', async (t) => {
  const app = await buildTestApp(t)
  await withFiles(app)
  await put(app, 'greet', skillMd('greet'))
  assertProblem(await get(app, '/skills/greet/files/logo.png'), 404, 'file_not_found')
  assert.deepEqual((await get(app, '/skills/greet/versions/1/files/logo.png')).rawPayload, png)
})

test('another format, or a parameter that is not known, is query_invalid', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const path of [
    'content?format=html',
    'content?colour=red',
    'files?limit=3',
    'files/a?x=1',
    'versions/1/files?x=1',
  ]) {
    assertProblem(await get(app, `/skills/greet/${path}`), 400, 'query_invalid')
  }
  assertProblem(await get(app, '/skills/greet?x=1'), 400, 'query_invalid')
  assertProblem(await send(app, 'DELETE', '/skills/greet?x=1'), 400, 'query_invalid')
})
