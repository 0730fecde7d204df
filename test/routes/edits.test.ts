import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd } from '../build-app.ts'
import { assertProblem, fieldsOf, namesOf, patch, remove } from '../requests.ts'

const source = `---
# Who we are
name: greet
description: "Says hello. Use when somebody greets." # keep this
x-team: {lead: Ada}
tags: [polite, warm]
allowed-tools: Read, Bash(git:*)
license: MIT # yes
compatibility: any
metadata:
  owner: Ada # of the team
  level: 1.10
argument-hint: "[name]"
---

Say hello.

`

for (const [title, edit, line, becomes] of [
  [
    'description',
    { description: 'Says: hi. Use when asked.' },
    /^description: .*$/m,
    { description: 'Says: hi. Use when asked.' },
  ],
  ['tags', { tags: ['small talk', 'b'] }, /^tags: .*$/m, { tags: ['small talk', 'b'] }],
  [
    'allowed_tools',
    { allowed_tools: ['Read'] },
    /^allowed-tools: .*$/m,
    { allowed_tools: ['Read'] },
  ],
  ['license', { license: 'ISC' }, /^license: .*$/m, { license: 'ISC' }],
  ['compatibility', { compatibility: 'none' }, /^compatibility: .*$/m, { compatibility: 'none' }],
  [
    'metadata',
    { metadata: { owner: 'Bob' } },
    /^ {2}owner: .*$/m,
    { metadata: { owner: 'Bob', level: '1.10' } },
  ],
] as const) {
  test(`PATCH of ${title} changes its line and no other byte`, async (t) => {
    const app = await buildTestApp(t)
    await publish(app, source)
    const response = await patch(app, 'greet', edit)
    assert.equal(response.statusCode, 200, response.body)
    const skill = response.json()
    assert.deepEqual([skill.version, skill.latest_version], [2, 2])
    for (const [key, value] of Object.entries(becomes)) assert.deepEqual(skill[key], value)

    const text = (await get(app, '/skills/greet/content')).body
    const without = (file: string) => file.split('\n').filter((each) => !line.test(each))
    if (title === 'tags' || title === 'allowed_tools') {
      for (const kept of ['# Who we are', 'x-team: {lead: Ada}', 'argument-hint: "[name]"']) {
        assert.ok(text.includes(`${kept}\n`), kept)
      }
      assert.ok(text.endsWith('---\n\nSay hello.\n\n'))
    } else assert.deepEqual(without(text), without(source))
  })
}

test('PATCH of the body keeps the frontmatter, and of the rest the body', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  await patch(app, 'greet', { body: 'Bye.\n' })
  const text = (await get(app, '/skills/greet/content')).body
  assert.ok(text.startsWith(source.slice(0, source.indexOf('\n---\n'))))
  assert.equal((await get(app, '/skills/greet')).json().body, 'Bye.\n')
})

test('PATCH with null takes a key away', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const nothing = {
    tags: null,
    allowed_tools: null,
    license: null,
    compatibility: null,
    metadata: null,
  }
  const response = await patch(app, 'greet', nothing)
  const { tags, allowed_tools, license, compatibility, metadata, extra } = response.json()
  assert.deepEqual(
    [tags, allowed_tools, license, compatibility, metadata],
    [[], null, null, null, {}],
  )
  assert.deepEqual(extra, { 'x-team': { lead: 'Ada' }, 'argument-hint': '[name]' })
  const text = (await get(app, '/skills/greet/content')).body
  assert.doesNotMatch(text, /^(tags|allowed-tools|license|compatibility|metadata)/m)
  assert.match(text, /# Who we are\n/)
})

test('PATCH of metadata is merged, deeply, and null removes within', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const response = await patch(app, 'greet', { metadata: { level: null, team: { lead: 'Eve' } } })
  assert.deepEqual(response.json().metadata, { owner: 'Ada', team: { lead: 'Eve' } })
})

test('an edit keeps CRLF, the mark at the front and the bundled files', async (t) => {
  const app = await buildTestApp(t)
  const content = `\ufeff${skillMd('greet').replaceAll('\n', '\r\n')}`
  const payload = { content, files: [{ path: 'a.txt', content: 'A' }] }
  await app.inject({ method: 'POST', url: '/api/v1/skills', payload })
  const response = await patch(app, 'greet', { license: 'MIT' })
  assert.deepEqual([response.statusCode, response.json().file_count], [200, 1])
  const text = (await get(app, '/skills/greet/content')).body
  assert.ok(text.startsWith('\ufeff---\r\n'))
  assert.doesNotMatch(text, /[^\r]\n/)
  assert.match(text, /\r\nlicense: MIT\r\n/)
  assert.equal((await get(app, '/skills/greet/files/a.txt')).body, 'A')
})

test('a merge patch by its own media type is the same', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const type = { 'content-type': 'application/merge-patch+json' }
  const response = await patch(app, 'greet', Buffer.from('{"license":null}'), type)
  assert.deepEqual([response.statusCode, response.json().license], [200, null])
})

test('an edit that changes nothing makes no version', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const { etag } = (await get(app, '/skills/greet')).headers
  for (const edit of [
    {},
    { license: 'MIT' },
    { tags: ['polite', 'warm'] },
    { enabled: true },
    { current_version: 1 },
  ]) {
    const response = await patch(app, 'greet', edit)
    assert.deepEqual([response.statusCode, response.json().latest_version], [200, 1])
    assert.equal(response.headers.etag, etag, JSON.stringify(edit))
  }
})

test('an edit may not break the skill', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  for (const [edit, code] of [
    [{ description: '' }, 'description_missing'],
    [{ description: ' \u200b ' }, 'description_missing'],
    [{ description: 'x'.repeat(1025) }, 'description_too_long'],
    [{ compatibility: 'x'.repeat(501) }, 'compatibility_too_long'],
    [{ allowed_tools: ['Bash(git:*'] }, 'allowed_tools_syntax'],
    [{ body: 'a\0b' }, 'nul_byte'],
  ] as const) {
    assertProblem(await patch(app, 'greet', edit), 422, code)
  }
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)
})

test('what was taken leniently can be edited', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, '---\nname: greet\ndescription: Use: now\n---\nHi.\n', '?mode=lenient')
  const response = await patch(app, 'greet', { license: 'MIT' })
  assert.deepEqual([response.statusCode, response.json().license], [200, 'MIT'], response.body)
  assert.equal(response.json().description, 'Use: now')
})

const misfits = [
  [{ colour: 'red' }, '/colour'],
  [{ name: 'other' }, '/name'],
  [{ version: 2 }, '/version'],
  [{ description: null }, '/description'],
  [{ body: null }, '/body'],
  [{ enabled: 'yes' }, '/enabled'],
  [{ enabled: 1 }, '/enabled'],
  [{ enabled: null }, '/enabled'],
  [{ tags: 'a, b' }, '/tags'],
  [{ tags: [1] }, '/tags/0'],
  [{ allowed_tools: 'Read' }, '/allowed_tools'],
  [{ metadata: [] }, '/metadata'],
  [{ license: 7 }, '/license'],
  [{ current_version: '1' }, '/current_version'],
  [{ current_version: 1.5 }, '/current_version'],
  [{ current_version: 0 }, '/current_version'],
  [{ current_version: null }, '/current_version'],
  [[], '/'],
] as const

test('a PATCH that does not fit is body_invalid, and what is wrong named', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  for (const [edit, field] of misfits) {
    const problem = assertProblem(await patch(app, 'greet', edit), 400, 'body_invalid')
    assert.deepEqual(fieldsOf(problem), [field])
  }
  assertProblem(await patch(app, 'greet?mode=lenient', {}), 400, 'query_invalid')
  assertProblem(
    await patch(app, 'greet', Buffer.from('x'), { 'content-type': 'text/markdown' }),
    415,
    'media_type',
  )
})

test('a skill that is switched off is in the list and in no catalog', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const off = await patch(app, 'greet', { enabled: false })
  assert.deepEqual([off.json().enabled, off.json().latest_version], [false, 1])
  assert.equal((await get(app, '/catalog')).body, '(no skills available)')
  assert.deepEqual(namesOf(await get(app, '/skills?enabled=false')), ['greet'])

  await put(app, 'greet', skillMd('greet', 'Changed.'))
  assert.equal((await get(app, '/skills/greet')).json().enabled, false)
  await patch(app, 'greet', { enabled: true })
  assert.match((await get(app, '/catalog')).body, /^- greet: /)
})

test('current_version rolls back, and forward again', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'One.'))
  await put(app, 'greet', skillMd('greet', 'Two.'))
  for (const [version, body] of [
    [1, 'One.\n'],
    [2, 'Two.\n'],
  ] as const) {
    const response = await patch(app, 'greet', { current_version: version })
    const { version: current, latest_version } = response.json()
    assert.deepEqual([response.statusCode, current, latest_version], [200, version, 2])
    assert.equal((await get(app, '/skills/greet')).json().body, body)
    const { offered } = (await get(app, '/catalog?format=json')).json()
    assert.equal(offered[0].version, version)
  }
})

test('after a rollback the next version counts on from the latest', async (t) => {
  const app = await buildTestApp(t)
  for (const body of ['One.', 'Two.']) await put(app, 'greet', skillMd('greet', body))
  await patch(app, 'greet', { current_version: 1 })
  const response = await put(app, 'greet', skillMd('greet', 'Two.'))
  assert.deepEqual([response.json().version, response.json().latest_version], [3, 3])
})

test('an edit after a rollback edits what is current', async (t) => {
  const app = await buildTestApp(t)
  for (const body of ['One.', 'Two.']) await put(app, 'greet', skillMd('greet', body))
  await patch(app, 'greet', { current_version: 1 })
  assert.equal((await patch(app, 'greet', { license: 'MIT' })).json().version, 3)
  assert.equal((await get(app, '/skills/greet')).json().body, 'One.\n')
})

test('enabled goes together with current_version, and with an edit', async (t) => {
  const app = await buildTestApp(t)
  for (const body of ['One.', 'Two.']) await put(app, 'greet', skillMd('greet', body))
  const back = (await patch(app, 'greet', { current_version: 1, enabled: false })).json()
  assert.deepEqual([back.version, back.enabled], [1, false])
  const edited = (await patch(app, 'greet', { license: 'MIT', enabled: true })).json()
  assert.deepEqual([edited.version, edited.enabled, edited.license], [3, true, 'MIT'])
  const off = (await patch(app, 'greet', { license: 'MIT', enabled: false })).json()
  assert.deepEqual([off.version, off.enabled], [3, false])
})

test('an edit together with current_version is refused', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const response = await patch(app, 'greet', { current_version: 1, license: 'ISC' })
  const problem = assertProblem(response, 400, 'body_invalid')
  assert.deepEqual(fieldsOf(problem), ['/current_version'])
  assert.equal((await get(app, '/skills/greet')).json().license, 'MIT')
})

test('a version that is not there cannot become the current one', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  for (const version of [2, 2 ** 31, Number.MAX_SAFE_INTEGER, 1e300]) {
    const response = await patch(app, 'greet', { current_version: version })
    assertProblem(response, 404, 'version_not_found')
  }
  assert.equal((await get(app, '/skills/greet')).json().version, 1)
})

test('PATCHes at once lose nothing', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const edits = [
    { license: 'ISC' },
    { compatibility: 'none' },
    { tags: ['x'] },
    { body: 'Bye.\n' },
    { enabled: false },
  ]
  const responses = await Promise.all(edits.map((edit) => patch(app, 'greet', edit)))
  assert.deepEqual(
    responses.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200, 200],
  )
  const { license, compatibility, tags, body, enabled, latest_version } = (
    await get(app, '/skills/greet')
  ).json()
  assert.deepEqual(
    [license, compatibility, tags, body, enabled, latest_version],
    ['ISC', 'none', ['x'], 'Bye.\n', false, 5],
  )
})

test('twenty edits of one field at once all count', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
  const responses = await Promise.all(
    keys.map((key) => patch(app, 'greet', { metadata: { [key]: 'x' } })),
  )
  for (const { statusCode, body } of responses) assert.equal(statusCode, 200, body)
  const { metadata } = (await get(app, '/skills/greet')).json()
  assert.deepEqual(
    keys.filter((key) => metadata[key] !== 'x'),
    [],
  )
})

test('PATCH of a skill that is not there is 404 with suggestions', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, source)
  for (const edit of [{ license: 'MIT' }, { enabled: false }, { current_version: 1 }]) {
    const problem = assertProblem(await patch(app, 'great', edit), 404, 'skill_not_found')
    assert.deepEqual(problem.suggestions, ['greet'])
  }
})

test('a deleted skill is gone everywhere, and its name free at once', async (t) => {
  const app = await buildTestApp(t)
  const first = await publish(app, skillMd('greet', 'One.'))
  await put(app, 'greet', skillMd('greet', 'Two.'))
  const removed = await remove(app, 'greet')
  assert.deepEqual([removed.statusCode, removed.body], [204, ''])

  assertProblem(await remove(app, 'greet'), 404, 'skill_not_found')
  for (const path of ['', '/content', '/files', '/versions', '/versions/1']) {
    assertProblem(await get(app, `/skills/greet${path}`), 404, 'skill_not_found')
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
  assert.equal((await get(app, '/catalog')).body, '(no skills available)')

  const again = await publish(app, skillMd('greet', 'One.'))
  assert.deepEqual([again.statusCode, again.json().version], [201, 1])
  assert.notEqual(again.json().id, first.json().id)
  assert.notEqual(again.headers.etag, first.headers.etag)
})

test('nothing else is deleted in its place', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet-people'))
  assertProblem(await remove(app, 'greet'), 404, 'skill_not_found')
  assertProblem(await remove(app, 'greet-peopl_'), 404, 'skill_not_found')
  assertProblem(await remove(app, '%25'), 404, 'skill_not_found')
  assert.deepEqual(namesOf(await get(app, '/skills')), ['greet-people'])
})
