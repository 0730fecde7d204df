import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, namesOf, post, send } from '../requests.ts'
import { type Files, formType, makeForm, type Part, waysOf } from '../upload.ts'

const bytes = Buffer.from([0, 255, 0x89, 13, 10, 13, 10, 45, 45])
const content = skillMd('greet', 'Zhōu mò.\r\nHi.')
const files = {
  'SKILL.md': content,
  'scripts/größe 名.sh': 'echo "hi"\r\n',
  'assets/logo.png': bytes,
  empty: '',
}
const nested = Object.fromEntries(
  Object.entries(files).map(([path, data]) => [`greet/${path}`, data]),
)
const noise = { '__MACOSX/greet/._SKILL.md': 'x', 'greet/.DS_Store': 'x' }

const sendForm = (app: TestApp, parts: Part[], headers = {}) =>
  send(app, 'POST', '/skills', { payload: makeForm(parts), headers: { ...formType, ...headers } })

async function assertNothingStored(app: TestApp) {
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
}

for (const [layout, given] of Object.entries({ 'flat files': files, 'one top folder': nested })) {
  test(`${layout} are the same skill on every way they come`, async (t) => {
    const app = await buildTestApp(t)
    const digests = new Set<string>()
    for (const [way, upload] of Object.entries(waysOf(given))) {
      const response = await send(app, 'POST', '/skills', upload)
      assert.equal(response.statusCode, 201, `${way}: ${response.body}`)
      assert.equal(response.headers.location, '/api/v1/skills/greet')
      const { digest, warnings, file_count: count, skipped } = response.json()
      assert.deepEqual([warnings, count, skipped], [[], 3, []], way)
      digests.add(digest)
      for (const [path, data] of Object.entries(files)) {
        const read = await get(app, `/skills/greet/files/${encodeURI(path)}`)
        assert.deepEqual(read.rawPayload, Buffer.from(data), `${way}: ${path}`)
      }
      assert.equal((await send(app, 'DELETE', '/skills/greet')).statusCode, 204)
    }
    const json = {
      content,
      files: Object.entries(files)
        .slice(1)
        .map(([path, data]) => ({
          path,
          content: Buffer.from(data).toString('base64'),
          encoding: 'base64',
        })),
    }
    digests.add((await post(app, '/skills', json)).json().digest)
    assert.equal(digests.size, 1)
  })
}

test('PUT and validate take what POST takes', async (t) => {
  const app = await buildTestApp(t)
  for (const [way, upload] of Object.entries(waysOf(nested))) {
    const checked = (await send(app, 'POST', '/skills/validate', upload)).json()
    assert.deepEqual([checked.valid, checked.skill.file_count], [true, 3], way)
  }
  await assertNothingStored(app)
  const [first, ...others] = Object.values(waysOf(nested))
  assert.equal((await send(app, 'PUT', '/skills/greet', first)).statusCode, 201)
  for (const upload of others) {
    const again = await send(app, 'PUT', '/skills/greet', upload)
    assert.deepEqual([again.statusCode, again.json().latest_version], [200, 1])
  }
  const [upload] = Object.values(waysOf({ 'SKILL.md': skillMd('other') }))
  assertProblem(await send(app, 'PUT', '/skills/greet', upload), 422, 'name_mismatch')
})

test('what file managers leave is skipped and told, and another folder name is a warning', async (t) => {
  const app = await buildTestApp(t)
  for (const [way, upload] of Object.entries(waysOf({ ...nested, ...noise }))) {
    const response = await send(app, 'PUT', '/skills/greet', upload)
    assert.deepEqual(response.json().skipped.toSorted(), Object.keys(noise).toSorted(), way)
  }
  const [upload] = Object.values(waysOf({ 'Other/SKILL.md': content }))
  const { warnings } = (await send(app, 'PUT', '/skills/greet', upload)).json()
  assert.deepEqual(
    warnings.map(({ code }: { code: string }) => code),
    ['name_folder'],
  )
})

test('a refused bundle leaves nothing, and validate tells why', async (t) => {
  const app = await buildTestApp(t)
  const skills = { 'a/SKILL.md': skillMd('a'), 'b/SKILL.md': skillMd('b') }
  for (const [code, refused] of Object.entries<Files>({
    archive_path: { ...files, '../outside.txt': 'x' },
    archive_no_skill: { 'README.md': 'x', 'notes.txt': 'x' },
    archive_many_skills: skills,
    archive_duplicate: { ...files, 'a.txt': '1', 'A.txt': '2' },
    frontmatter_missing: { ...files, 'SKILL.md': 'no frontmatter' },
  })) {
    for (const [way, upload] of Object.entries(waysOf(refused))) {
      assertProblem(await send(app, 'POST', '/skills', upload), 422, code)
      const checked = (await send(app, 'POST', '/skills/validate', upload)).json()
      assert.deepEqual([checked.valid, checked.errors[0].code], [false, code], way)
    }
  }
  await assertNothingStored(app)
})

test('a retry with the same key is replayed, though its boundary is another one', async (t) => {
  const app = await buildTestApp(t)
  for (const [way, { payload, headers }] of Object.entries(waysOf(nested))) {
    const key = { 'idempotency-key': way.replaceAll(' ', '-') }
    const all = { headers: { ...headers, ...key }, payload }
    const first = await send(app, 'PUT', '/skills/greet', all)
    const again = await send(app, 'PUT', '/skills/greet', all)
    assert.deepEqual([again.body, again.headers['idempotent-replayed']], [first.body, 'true'], way)
    const [other] = Object.values(waysOf({ ...nested, 'greet/more': 'x' }))
    const changed = { payload: other?.payload ?? '', headers: { ...headers, ...key } }
    if (way === 'zip') {
      const response = await send(app, 'PUT', '/skills/greet', changed)
      assertProblem(response, 422, 'idempotency_mismatch')
    }
  }
  const parts = [{ fileName: 'SKILL.md', data: content }]
  const payload = makeForm(parts)
  const withBoundary = (boundary: string) =>
    send(app, 'PUT', '/skills/greet', {
      payload: Buffer.from(payload.toString('latin1').replaceAll('x-boundary', boundary), 'latin1'),
      headers: {
        'content-type': `multipart/form-data; boundary="${boundary}"`,
        'idempotency-key': 'k',
      },
    })
  const first = await withBoundary('one')
  assert.equal(first.statusCode, 200, first.body)
  assert.equal((await withBoundary('two')).headers['idempotent-replayed'], 'true')
})

test('file names of a form are decoded as clients write them', async (t) => {
  const app = await buildTestApp(t)
  const names: [disposition: string, path: string][] = [
    ['filename="a%22b.txt"', 'a"b.txt'],
    ['filename="100%25.txt"', '100%25.txt'],
    ['filename="q\\"uote.txt"', 'q"uote.txt'],
    ['filename="semi;colon.txt"', 'semi;colon.txt'],
    ['filename=token.txt', 'token.txt'],
    ["filename*=UTF-8''%E5%90%8D%2Fb.txt", '名/b.txt'],
    ['filename="windows\\dir\\c.txt"', 'windows/dir/c.txt'],
    ['filename="größe.txt"', 'größe.txt'],
  ]
  const parts = names.map(([file]) => ({ data: 'x', disposition: `form-data; name="f"; ${file}` }))
  const response = await sendForm(app, [{ fileName: 'SKILL.md', data: content }, ...parts])
  assert.equal(response.statusCode, 201, response.body)
  const { data } = (await get(app, '/skills/greet/files')).json()
  const paths = data.map(({ path }: { path: string }) => path)
  assert.deepEqual(paths.toSorted(), names.map(([, path]) => path).toSorted())

  for (const fileName of ['a%0Ab.txt', 'a%0D.txt', 'C:\\a.txt', '/etc/passwd', '..\\a', 'a//b']) {
    const refused = await sendForm(app, [
      { fileName: 'SKILL.md', data: skillMd('other') },
      { fileName, data: 'x' },
    ])
    assertProblem(refused, 422, 'archive_path')
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), ['greet'])
})

test('a form that is empty, cut, without a boundary or with fields is body_invalid', async (t) => {
  const app = await buildTestApp(t)
  const whole = makeForm([{ fileName: 'SKILL.md', data: content }])
  const file = { fileName: 'SKILL.md', data: content }
  for (const payload of [
    makeForm([]),
    '',
    'no boundary in here',
    whole.subarray(0, whole.length - 6),
    whole.subarray(0, whole.length - 40),
    whole.subarray(0, 20),
    makeForm([{ ...file, disposition: 'attachment; filename="SKILL.md"' }]),
    makeForm([{ ...file, disposition: `form-data; filename*=UTF-8''%ff` }]),
    Buffer.from(whole.toString().replace('SKILL.md', 'SKILL\xff.md'), 'latin1'),
    '--x-boundary\r\n--x-boundary--\r\n',
    '--x-boundary\r\n\r\nno headers\r\n--x-boundary--\r\n',
    '--x-boundaryjunk\r\n\r\nno headers\r\n--x-boundary--\r\n',
  ]) {
    const response = await send(app, 'POST', '/skills', { payload, headers: formType })
    assertProblem(response, 400, 'body_invalid')
  }
  const unbounded = { payload: whole, headers: { 'content-type': 'multipart/form-data' } }
  assertProblem(await send(app, 'POST', '/skills', unbounded), 400, 'body_invalid')
  for (const name of ['files', 'display_name', '__proto__']) {
    for (const fileName of [undefined, '']) {
      const field = { name, data: 'x', ...(fileName !== undefined && { fileName }) }
      const problem = assertProblem(await sendForm(app, [file, field]), 400, 'body_invalid')
      assert.equal(problem.errors[0].field, name)
    }
  }
  await assertNothingStored(app)
})

test('two parts that become one path are refused, and a file that is no archive is none', async (t) => {
  const app = await buildTestApp(t)
  const skill = { fileName: 'SKILL.md', data: content }
  const twice = [skill, { fileName: 'a.md', data: '1' }, { fileName: 'a.md', data: '2' }]
  assertProblem(await sendForm(app, twice), 422, 'archive_duplicate')
  const zip = { fileName: 'inner.zip', data: waysOf(files).zip.payload }
  assert.equal((await sendForm(app, [skill, zip])).statusCode, 201)
  const { data } = (await get(app, '/skills/greet/files')).json()
  assert.deepEqual([data.length, data[0].path], [1, 'inner.zip'])
})

test('these bodies are taken where a skill is, and nowhere else', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, content)
  for (const upload of Object.values(waysOf(files))) {
    assertProblem(await send(app, 'PATCH', '/skills/greet', upload), 415, 'media_type')
    assertProblem(await send(app, 'POST', '/chat', upload), 415, 'media_type')
  }
  const other = { payload: 'x', headers: { 'content-type': 'application/x-7z-compressed' } }
  assertProblem(await send(app, 'POST', '/skills', other), 415, 'media_type')
})

test('more than the settings allow is 413, packed or unpacked', async (t) => {
  const text = Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 251))
  const big = { ...files, big: text }
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`f${i}`, 'x']))
  for (const [env, given, code] of [
    [{ MAX_REQUEST_BYTES: '300' }, big, 'body_too_large'],
    [{ MAX_FILE_BYTES: '3000' }, big, 'archive_too_large'],
    [{ MAX_BUNDLE_BYTES: '3000' }, big, 'archive_too_large'],
    [{ MAX_SKILL_BYTES: '20' }, files, 'skill_too_large'],
    [{ MAX_BUNDLE_FILES: '5' }, { ...files, ...many }, 'archive_too_large'],
  ] as const) {
    const app = await buildTestApp(t, { env })
    for (const upload of Object.values(waysOf(given))) {
      assertProblem(await send(app, 'POST', '/skills', upload), 413, code)
    }
    await assertNothingStored(app)
  }
})

test('of two uploads of one name at once, one is stored', async (t) => {
  const app = await buildTestApp(t)
  const uploads = Object.values(waysOf(nested))
  const responses = await Promise.all(uploads.map((each) => send(app, 'POST', '/skills', each)))
  const statuses = responses.map(({ statusCode }) => statusCode).toSorted()
  assert.deepEqual(statuses, [201, ...uploads.slice(1).map(() => 409)])
})
