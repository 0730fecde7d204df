import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { buildTestApp, publish, put, skillMd } from '../build-app.ts'
import { patch, remove } from '../requests.ts'
import { waysOf } from '../upload.ts'
import { readTar } from './read-tar.ts'
import {
  bundle,
  type Entry,
  GUIDE,
  get,
  NEWER,
  namesAt,
  OLDER,
  SCHEMA,
  sha256,
  skillsOf,
  TOOLS,
  withTwo,
} from './well-known-wire.ts'

test('the index of 0.2.0 tells every skill with the digest of what stands at its URL', async (t) => {
  const app = await withTwo(t)
  const response = await get(app, `${NEWER}/index.json`)
  assert.match(String(response.headers['content-type']), /^application\/json/)
  const { $schema, skills, ...rest } = response.json()
  assert.deepEqual([$schema, rest], [SCHEMA, {}])
  const description = 'Says hello to whoever comes in. Use when somebody greets.'
  const [greet, tools] = skills
  assert.deepEqual(Object.keys(greet), ['name', 'type', 'description', 'url', 'digest'])
  assert.deepEqual(
    skills.map(({ digest: _, ...entry }: Entry) => entry),
    [
      { name: 'greet', type: 'skill-md', description, url: `${NEWER}/greet/SKILL.md` },
      { name: 'pdf-tools', type: 'archive', description, url: `${NEWER}/pdf-tools.tar.gz` },
    ],
  )
  for (const { url, digest } of [greet, tools]) {
    const artifact = await get(app, url)
    assert.equal(artifact.statusCode, 200)
    assert.equal(sha256(artifact.rawPayload), digest)
    assert.equal(artifact.headers.etag, `"${digest}"`)
  }
})

test('one file comes as its stored bytes, several as an archive without a folder', async (t) => {
  const app = await withTwo(t)
  const text = await get(app, `${NEWER}/greet/SKILL.md`)
  assert.equal(text.headers['content-type'], 'text/markdown; charset=utf-8')
  assert.equal(text.body, skillMd('greet'))

  const archive = await get(app, `${NEWER}/pdf-tools.tar.gz`)
  assert.equal(archive.headers['content-type'], 'application/gzip')
  assert.deepEqual([...archive.rawPayload.subarray(0, 8)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0])
  const entries = readTar(gunzipSync(archive.rawPayload))
  assert.deepEqual(
    entries.map(({ path, type, time }) => [path, type, time]),
    Object.keys(TOOLS)
      .sort()
      .map((path) => [path, '0', 0]),
  )
  for (const { path, bytes } of entries) assert.deepEqual(bytes, Buffer.from(TOOLS[path] ?? ''))
})

test('two services make the same archive of the same files', async (t) => {
  const archives = []
  for (const files of [TOOLS, Object.fromEntries(Object.entries(TOOLS).reverse())]) {
    const app = await buildTestApp(t)
    await bundle(app, files)
    archives.push((await get(app, `${NEWER}/pdf-tools.tar.gz`)).rawPayload)
  }
  assert.deepEqual(archives[0], archives[1])
})

test('an archive tells a long path in a header of its own only where ustar has no room', async (t) => {
  const app = await buildTestApp(t)
  const fits = `${'a'.repeat(60)}/${'b'.repeat(60)}/${'c'.repeat(60)}.md`
  const tooLong = `${'d'.repeat(120)}.md`
  const stored = await bundle(app, { ...TOOLS, [fits]: 'fits', [tooLong]: 'too long' })
  assert.equal(stored.statusCode, 201, stored.body)
  const archive = await get(app, `${NEWER}/pdf-tools.tar.gz`)
  const entries = readTar(gunzipSync(archive.rawPayload))
  assert.equal(entries.find(({ path }) => path === fits)?.bytes.toString(), 'fits')
  const extended = entries.filter(({ type }) => type === 'x')
  assert.deepEqual(
    extended.map(({ bytes }) => bytes.includes(tooLong)),
    [true],
  )
})

test('an archive orders paths beyond the basic plane as its digest was made', async (t) => {
  const app = await buildTestApp(t)
  const files = { ...TOOLS, 'a/\u{1f44b}.md': 'hand', 'a/\uff5e.md': 'wave' }
  assert.equal((await bundle(app, files)).statusCode, 201)
  const first = await get(app, `${NEWER}/pdf-tools.tar.gz`)
  const [entry] = await skillsOf(app, `${NEWER}/index.json`)
  assert.equal(entry?.digest, sha256(first.rawPayload))
})

test('the index of 0.1.0 lists files, SKILL.md first, and each stands at its path', async (t) => {
  const app = await buildTestApp(t)
  await bundle(app, { ...TOOLS, 'A.md': 'a', 'with space.html': '<p>' })
  await publish(app, skillMd('greet'))
  const response = await get(app, `${OLDER}/index.json`)
  const description = 'Says hello to whoever comes in. Use when somebody greets.'
  const files = ['SKILL.md', 'A.md', 'data.bin', 'references/guide.md', 'with space.html']
  assert.deepEqual(response.json(), {
    skills: [
      { name: 'greet', description, files: ['SKILL.md'] },
      { name: 'pdf-tools', description, files },
    ],
  })
  for (const root of [OLDER, NEWER]) {
    const guide = await get(app, `${root}/pdf-tools/references/guide.md`)
    assert.equal(guide.body, GUIDE)
    const data = await get(app, `${root}/pdf-tools/data.bin`)
    assert.deepEqual(data.rawPayload, TOOLS['data.bin'])
    const page = await get(app, `${root}/pdf-tools/with%20space.html`)
    assert.match(String(page.headers['content-disposition']), /^attachment/)
    const skill = await get(app, `${root}/pdf-tools/SKILL.md`)
    assert.equal(skill.headers['content-disposition'], undefined)
    assert.equal(skill.headers['content-type'], 'text/markdown; charset=utf-8')
  }
})

test('a path that would make a 0.1.0 client drop everything keeps its skill out there alone', async (t) => {
  const app = await withTwo(t)
  for (const [at, path] of ['a..b.md', '50%.md', 'what?.md', 'c#.md'].entries()) {
    const name = `odd-${at}`
    const stored = await bundle(app, { 'SKILL.md': skillMd(name), [path]: 'x' })
    assert.equal(stored.statusCode, 201, stored.body)
  }
  assert.deepEqual(await namesAt(app, `${OLDER}/index.json`), ['greet', 'pdf-tools'])
  assert.equal((await skillsOf(app, `${NEWER}/index.json`)).length, 6)
})

test('HEAD answers as GET does, without the body', async (t) => {
  const app = await withTwo(t)
  for (const url of [
    `${NEWER}/index.json`,
    `${OLDER}/index.json`,
    `${NEWER}/greet/SKILL.md`,
    `${NEWER}/pdf-tools.tar.gz`,
    `${OLDER}/pdf-tools/references/guide.md`,
  ]) {
    const whole = await get(app, url)
    const head = await app.inject({ method: 'HEAD', url })
    assert.deepEqual([head.statusCode, head.body], [200, ''], url)
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
      assert.equal(head.headers[name], whole.headers[name], `${name} of ${url}`)
    }
    assert.equal(Number(head.headers['content-length']), whole.rawPayload.length)
    const etag = String(whole.headers.etag)
    const same = await get(app, url, { 'if-none-match': etag })
    assert.deepEqual([same.statusCode, same.body, same.headers.etag], [304, '', etag])
    assert.equal(same.headers['cache-control'], 'public, max-age=60')
  }
})

test('a change shows in the next answer', async (t) => {
  const app = await withTwo(t)
  const [before] = await skillsOf(app, `${NEWER}/index.json`)
  const old = await get(app, `${NEWER}/index.json`)
  await put(app, 'greet', skillMd('greet', 'Say good morning.'))
  const etag = String(old.headers.etag)
  const changed = await get(app, `${NEWER}/index.json`, { 'if-none-match': etag })
  assert.equal(changed.statusCode, 200)
  assert.notEqual(changed.json().skills[0].digest, before?.digest)
  assert.match((await get(app, `${NEWER}/greet/SKILL.md`)).body, /good morning/)

  const [, tools] = await skillsOf(app, `${NEWER}/index.json`)
  const { zip } = waysOf({ ...TOOLS, 'more.md': 'more' })
  await app.inject({ method: 'PUT', url: '/api/v1/skills/pdf-tools', ...zip })
  const [, grown] = await skillsOf(app, `${NEWER}/index.json`)
  assert.notEqual(grown?.digest, tools?.digest)
  const archive = await get(app, `${NEWER}/pdf-tools.tar.gz`)
  assert.equal(sha256(archive.rawPayload), grown?.digest)

  await patch(app, 'greet', { enabled: false })
  assert.deepEqual(await namesAt(app, `${NEWER}/index.json`), ['pdf-tools'])
  assert.equal((await get(app, `${NEWER}/greet/SKILL.md`)).statusCode, 404)
  await patch(app, 'greet', { enabled: true })
  await remove(app, 'pdf-tools')
  assert.deepEqual(await namesAt(app, `${OLDER}/index.json`), ['greet'])
  assert.equal((await get(app, `${NEWER}/pdf-tools.tar.gz`)).statusCode, 404)
})
