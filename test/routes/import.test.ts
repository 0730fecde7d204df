import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { makeTgz } from '../registry/archives/make-tgz.ts'
import { makeZip } from '../registry/archives/make-zip.ts'
import { assertProblem, namesOf, type Response, send } from '../requests.ts'
import { type Files, waysOf } from '../upload.ts'

const ZIP = { 'content-type': 'application/zip' }

const importFiles = (app: TestApp, files: Files, query = '', headers = {}) => {
  const { payload } = waysOf(files).zip
  return send(app, 'POST', `/skills/import${query}`, { payload, headers: { ...ZIP, ...headers } })
}

type Result = { path: string; name: string; status: string; errors: { code: string }[] }
const told = (response: Response) => {
  assert.equal(response.statusCode, 200, response.body)
  return response
    .json()
    .results.map(({ path, name, status, errors }: Result) => [
      path,
      name,
      status,
      ...errors.map(({ code }) => code),
    ])
}
const counts = (response: Response) => {
  const { created, updated, unchanged, failed } = response.json()
  return [created, updated, unchanged, failed]
}

const three: Files = {
  'skills/two/SKILL.md': skillMd('two'),
  'skills/one/SKILL.md': skillMd('one'),
  'skills/one/scripts/run.sh': 'echo one\r\n',
  'skills/bad/SKILL.md': 'No frontmatter.\n',
  'README.md': 'Ours.',
  'skills/one/.DS_Store': 'x',
}

for (const [way, upload] of Object.entries(waysOf(three))) {
  test(`the skills of a ${way} are stored, but for a bad one, and the rest is skipped`, async (t) => {
    const app = await buildTestApp(t)
    const response = await send(app, 'POST', '/skills/import', upload)
    assert.deepEqual(told(response), [
      ['skills/bad/SKILL.md', null, 'failed', 'frontmatter_missing'],
      ['skills/one/SKILL.md', 'one', 'created'],
      ['skills/two/SKILL.md', 'two', 'created'],
    ])
    assert.deepEqual(counts(response), [2, 0, 0, 1])
    assert.deepEqual(response.json().skipped.toSorted(), ['README.md', 'skills/one/.DS_Store'])
    assert.deepEqual(namesOf(await get(app, '/skills')), ['one', 'two'])
    assert.equal((await get(app, '/skills/one/files/scripts/run.sh')).body, 'echo one\r\n')
    const { source, version } = (await get(app, '/skills/one')).json()
    assert.deepEqual([source, version], [{ type: 'api' }, 1])
  })
}

test('what is there already gets a version when it differs, and none when it does not', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('one'))
  await publish(app, skillMd('two'))
  const changed = { 'one/SKILL.md': skillMd('one'), 'two/SKILL.md': skillMd('two', 'Other.') }
  const first = await importFiles(app, changed, '?note=from%20git')
  assert.deepEqual(told(first), [
    ['one/SKILL.md', 'one', 'unchanged'],
    ['two/SKILL.md', 'two', 'updated'],
  ])
  assert.deepEqual(counts(await importFiles(app, changed)), [0, 0, 2, 0])
  const versions = (await get(app, '/skills/two/versions')).json().data
  assert.deepEqual(
    versions.map(({ version, note }: { version: number; note: string }) => [version, note]),
    [
      [2, 'from git'],
      [1, null],
    ],
  )
})

test('a folder of another name is a warning, and the second of one name is refused', async (t) => {
  const app = await buildTestApp(t)
  const files = { 'b/SKILL.md': skillMd('one', 'B'), 'a/SKILL.md': skillMd('one', 'A') }
  const response = await importFiles(app, files)
  assert.deepEqual(told(response), [
    ['a/SKILL.md', 'one', 'created'],
    ['b/SKILL.md', 'one', 'failed', 'name_conflict'],
  ])
  const [first, second] = response.json().results
  assert.deepEqual(first.warnings[0].code, 'name_folder')
  assert.match(second.errors[0].message, /"a\/SKILL\.md"/)
  assert.match((await get(app, '/skills/one/content')).body, /\nA\n$/)
})

test('a skill that fails leaves its name to the next one', async (t) => {
  const app = await buildTestApp(t)
  const failing = '---\nname: one\ndescription:\n---\nA\n'
  const response = await importFiles(app, { 'a/SKILL.md': failing, 'b/SKILL.md': skillMd('one') })
  assert.deepEqual(counts(response), [1, 0, 0, 1])
})

test('lenient mode repairs, with the folder for a missing name', async (t) => {
  const app = await buildTestApp(t)
  const files = { 'my tool/SKILL.md': 'Greets people who come in.\n' }
  assert.deepEqual(counts(await importFiles(app, files)), [0, 0, 0, 1])
  const response = await importFiles(app, files, '?mode=lenient')
  assert.deepEqual(told(response), [['my tool/SKILL.md', 'my-tool', 'created']])
  assert.ok(
    response
      .json()
      .results[0].warnings.some(({ code }: { code: string }) => code === 'frontmatter_missing'),
  )
})

test('a dry run tells what would be, and stores nothing', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('one'))
  await put(app, 'two', skillMd('two'))
  const files = {
    'one/SKILL.md': skillMd('one'),
    'two/SKILL.md': skillMd('two', 'Other.'),
    'three/SKILL.md': skillMd('three'),
    'four/SKILL.md': skillMd('three', 'Again.'),
  }
  const foreseen = await importFiles(app, files, '?dry_run=true')
  assert.deepEqual(namesOf(await get(app, '/skills')), ['one', 'two'])
  assert.deepEqual(counts(foreseen), [1, 1, 1, 1])
  assert.deepEqual(told(await importFiles(app, files)), told(foreseen))
})

test('limits of a skill fail that skill, and duplicates and bad paths in it too', async (t) => {
  const env = { MAX_BUNDLE_FILES: '3', MAX_FILE_BYTES: '100', MAX_SKILL_BYTES: '1000' }
  const app = await buildTestApp(t, { env })
  const response = await importFiles(app, {
    'files/SKILL.md': skillMd('files'),
    ...{ 'files/a': '', 'files/b': '', 'files/c': '' },
    'large/SKILL.md': skillMd('large'),
    'large/a': 'a'.repeat(101),
    'long/SKILL.md': skillMd('long', 'a'.repeat(1000)),
    'folded/SKILL.md': skillMd('folded'),
    ...{ 'folded/a': '', 'folded/A': '' },
    'control/SKILL.md': skillMd('control'),
    'control/a\u0001': '',
    'deep/SKILL.md': skillMd('deep'),
    [`deep/${'a/'.repeat(16)}b`]: '',
    'good/SKILL.md': skillMd('good'),
  })
  assert.deepEqual(told(response), [
    ['control/SKILL.md', null, 'failed', 'archive_path'],
    ['deep/SKILL.md', null, 'failed', 'archive_path'],
    ['files/SKILL.md', null, 'failed', 'archive_too_large'],
    ['folded/SKILL.md', null, 'failed', 'archive_duplicate'],
    ['good/SKILL.md', 'good', 'created'],
    ['large/SKILL.md', null, 'failed', 'archive_too_large'],
    ['long/SKILL.md', null, 'failed', 'skill_too_large'],
  ])
})

test('what spoils the whole archive refuses it, and nothing is stored', async (t) => {
  const app = await buildTestApp(t)
  const good = { name: 'one/SKILL.md', data: skillMd('one') }
  const bad: [string, Buffer][] = [
    ['archive_path', makeZip([good, { name: '../outside.txt' }])],
    ['archive_path', makeZip([good, { name: '/outside.txt' }])],
    ['archive_path', makeZip([good, { name: '../' }])],
    ['archive_corrupt', makeZip([good]).subarray(0, -30)],
    ['archive_corrupt', Buffer.from('no zip')],
    ['archive_corrupt', Buffer.alloc(0)],
    ['archive_no_skill', makeZip([{ name: 'README.md' }])],
  ]
  for (const [code, payload] of bad) {
    const response = await send(app, 'POST', '/skills/import', { payload, headers: ZIP })
    assertProblem(response, 422, code)
  }
  const tgz = makeTgz([good, { name: 'two/SKILL.md', data: skillMd('two') }])
  const headers = { 'content-type': 'application/gzip' }
  const cut = tgz.subarray(0, tgz.length - 12)
  assertProblem(
    await send(app, 'POST', '/skills/import', { payload: cut, headers }),
    ...([422, 'archive_corrupt'] as const),
  )
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('limits of an import are told with 413', async (t) => {
  const size = waysOf(three).zip.payload.length
  const limits = {
    MAX_IMPORT_FILES: ['5', 'archive_too_large'],
    MAX_IMPORT_UNPACKED: ['100', 'archive_too_large'],
    MAX_IMPORT_BYTES: [String(size - 1), 'body_too_large'],
  } as const
  for (const [name, [value, code]] of Object.entries(limits)) {
    const app = await buildTestApp(t, { env: { [name]: value } })
    assertProblem(await importFiles(app, three), 413, code)
    assert.deepEqual(namesOf(await get(app, '/skills')), [])
  }
  const app = await buildTestApp(t, { env: { MAX_IMPORT_FILES: '5' } })
  const { form } = waysOf(three)
  assertProblem(await send(app, 'POST', '/skills/import', form), 413, 'archive_too_large')
})

test('an import takes archives and forms alone', async (t) => {
  const app = await buildTestApp(t)
  const json = await send(app, 'POST', '/skills/import', { payload: { content: skillMd('one') } })
  assertProblem(json, 415, 'media_type')
  assertProblem(await send(app, 'POST', '/skills/import'), 415, 'media_type')
  assertProblem(await importFiles(app, three, '?activate=false'), 400, 'query_invalid')
})
