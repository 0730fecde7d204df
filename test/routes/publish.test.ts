import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd } from '../build-app.ts'
import { assertProblem, fieldsOf, namesOf, post } from '../requests.ts'

const description = 'Says hello. Use when somebody greets.'

test('a new skill is 201 with its address, its tag and its warnings', async (t) => {
  const app = await buildTestApp(t)
  const response = await publish(app, '---\nname: greet\ndescription: Hi.\n---\nSay hello.\n')
  assert.equal(response.statusCode, 201)
  assert.equal(response.headers.location, '/api/v1/skills/greet')
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')

  const { warnings, skipped, ...skill } = response.json()
  assert.deepEqual(
    warnings.map(({ code, line }: { code: string; line: number }) => [code, line]),
    [
      ['description_short', 3],
      ['description_no_trigger', 3],
    ],
  )
  assert.deepEqual(skipped, [])
  assert.match(skill.id, /^skill_/)
  assert.match(skill.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  const read = await get(app, '/skills/greet')
  assert.equal(read.headers.etag, response.headers.etag)
  assert.deepEqual(read.json(), { ...skill, warnings, body: 'Say hello.\n', files: [] })
})

test('a skill carries everything its file says', async (t) => {
  const app = await buildTestApp(t)
  const source = `---
name: code-review
description: Reviews code. Use when somebody asks for a review.
version: 1.10
license: MIT
compatibility: any
allowed-tools: get_diff, git(log:*)
tags: quality, code
metadata:
  team:
    lead: Ada
argument-hint: "[file]"
---
Look twice.
`
  const { id, created_at, updated_at, tokens, ...skill } = (await publish(app, source)).json()
  const hash = createHash('sha256').update(source).digest('hex')
  assert.deepEqual(skill, {
    name: 'code-review',
    title: null,
    description: 'Reviews code. Use when somebody asks for a review.',
    version: 1,
    latest_version: 1,
    declared_version: '1.10',
    tags: ['quality', 'code'],
    allowed_tools: ['get_diff', 'git(log:*)'],
    license: 'MIT',
    compatibility: 'any',
    metadata: { team: { lead: 'Ada' } },
    extra: { 'argument-hint': '[file]' },
    enabled: true,
    source: { type: 'api' },
    digest: `sha256:${hash}`,
    size: source.length,
    file_count: 0,
    warnings: [],
    skipped: [],
  })
  assert.ok(tokens.catalog > 0 && tokens.body > 0)
  assert.equal(created_at, updated_at)
  assert.ok(id)
})

test('a taken name is 409 and changes nothing', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const { etag } = (await get(app, '/skills/greet')).headers
  assertProblem(await publish(app, skillMd('greet', 'Say goodbye.')), 409, 'skill_exists')
  assertProblem(await publish(app, skillMd('greet')), 409, 'skill_exists')
  assert.equal((await get(app, '/skills/greet')).headers.etag, etag)
})

test('of eight that create one name at once, one wins', async (t) => {
  const app = await buildTestApp(t)
  const bodies = Array.from({ length: 8 }, (_, index) => `Say hello ${index}.`)
  const responses = await Promise.all(bodies.map((body) => publish(app, skillMd('greet', body))))
  const won = responses.findIndex(({ statusCode }) => statusCode === 201)
  for (const [index, response] of responses.entries()) {
    if (index !== won) assertProblem(response, 409, 'skill_exists')
  }
  const skill = (await get(app, '/skills/greet')).json()
  assert.deepEqual([skill.latest_version, skill.body], [1, `${bodies[won]}\n`])
})

test('PUT creates, then adds versions, and none for identical bytes', async (t) => {
  const app = await buildTestApp(t)
  const created = await put(app, 'greet', skillMd('greet'))
  assert.deepEqual([created.statusCode, created.json().version], [201, 1])
  assert.equal(created.headers.location, '/api/v1/skills/greet')

  const updated = await put(app, 'greet', skillMd('greet', 'Say hello twice.'))
  assert.deepEqual([updated.statusCode, updated.json().version], [200, 2])
  assert.equal(updated.headers.location, undefined)
  assert.notEqual(updated.headers.etag, created.headers.etag)

  const same = await put(app, 'greet', skillMd('greet', 'Say hello twice.'))
  assert.deepEqual([same.statusCode, same.json().version], [200, 2])
  assert.equal(same.headers.etag, updated.headers.etag)
  assert.deepEqual(same.json(), updated.json())
})

test('of eight PUTs at once each gets a version of its own', async (t) => {
  const app = await buildTestApp(t)
  const bodies = Array.from({ length: 8 }, (_, index) => `Say hello ${index}.`)
  const responses = await Promise.all(
    bodies.map((body) => put(app, 'greet', skillMd('greet', body))),
  )
  const versions = responses.map((response) => response.json().version)
  assert.deepEqual(versions.toSorted(), [1, 2, 3, 4, 5, 6, 7, 8])
  assert.equal(responses.filter(({ statusCode }) => statusCode === 201).length, 1)
})

test('PUT refuses content that names another skill, in both modes', async (t) => {
  const app = await buildTestApp(t)
  for (const query of ['', '?mode=lenient']) {
    const response = await put(app, `greet${query}`, skillMd('other'))
    const [error] = assertProblem(response, 422, 'name_mismatch').errors
    assert.deepEqual([error.file, error.field, error.line], ['SKILL.md', 'name', 2])
  }
  assertProblem(await get(app, '/skills/greet'), 404, 'skill_not_found')
})

test('PUT to a reserved or impossible name is refused, and nothing is stored', async (t) => {
  const app = await buildTestApp(t)
  for (const name of ['validate', 'import', 'con', 'nul', 'com1']) {
    assertProblem(await put(app, name, skillMd(name)), 422, 'name_reserved')
  }
  for (const path of ['Greet', 'a--b', '%20', 'a'.repeat(65)]) {
    assertProblem(await put(app, path, skillMd('greet')), 422, 'name_mismatch')
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

for (const [title, query, source, name, codes] of [
  ['the frontmatter', '', skillMd('greet'), 'greet', []],
  [
    '?name= where the file has none',
    '?name=greet',
    '---\ndescription: Says hi. Use when asked.\n---\nHi.\n',
    'greet',
    ['name_missing'],
  ],
  [
    '?name= where there is no block',
    '?name=greet',
    'Says hello to people. Use when asked.\n',
    'greet',
    ['frontmatter_missing'],
  ],
  ['the frontmatter against ?name=', '?name=other', skillMd('greet'), 'greet', ['name_mismatch']],
  ['a slug of the frontmatter', '', skillMd('Code Réview'), 'code-review', ['name_invalid']],
] as const) {
  test(`in lenient mode the name comes from ${title}`, async (t) => {
    const app = await buildTestApp(t)
    const mode = query === '' ? '?mode=lenient' : `${query}&mode=lenient`
    const response = await publish(app, source, mode)
    assert.deepEqual([response.statusCode, response.json().name], [201, name], response.body)
    const found = response.json().warnings.map(({ code }: { code: string }) => code)
    for (const code of codes) assert.ok(found.includes(code), `${code} is not in ${found}`)
  })
}

test('in lenient mode PUT takes the name of the path, and keeps a written one as title', async (t) => {
  const app = await buildTestApp(t)
  const unnamed = await put(app, 'greet?mode=lenient', 'Says hello. Use when asked.\n')
  assert.deepEqual([unnamed.statusCode, unnamed.json().name], [201, 'greet'])
  const titled = await put(app, 'code-review?mode=lenient', skillMd('Code Review'))
  assert.deepEqual([titled.json().name, titled.json().title], ['code-review', 'Code Review'])
})

test('what is nothing but broken is refused in both modes, with every fault', async (t) => {
  const app = await buildTestApp(t)
  const response = await publish(app, '---\nname: Greet Me\nallowed-tools: [1, {}]\n---\nHi.\n')
  const problem = assertProblem(response, 422, 'name_invalid')
  assert.deepEqual(fieldsOf(problem)?.toSorted(), [
    'allowed-tools',
    'allowed-tools',
    'description',
    'name',
  ])
  for (const query of ['', '?mode=lenient']) {
    assertProblem(await publish(app, '---js\nname: x\n---\n', query), 422, 'frontmatter_language')
  }
})

test('a body of text/markdown, text/plain or text/x-markdown is a SKILL.md', async (t) => {
  const app = await buildTestApp(t)
  const types = ['text/markdown', 'text/plain', 'text/x-markdown', 'Text/Markdown; charset=utf-8']
  for (const [index, type] of types.entries()) {
    const response = await post(app, '/skills', Buffer.from(skillMd(`greet-${index}`)), {
      'content-type': type,
    })
    assert.equal(response.statusCode, 201, type)
  }
})

test('bytes come back as they were sent', async (t) => {
  const app = await buildTestApp(t)
  const source = Buffer.from(
    '\ufeff---\r\nname: greet\r\ndescription: Grüßt. Use when e\u0301 or é.\r\n---\r\n\r\nHi.',
  )
  assert.equal((await publish(app, source)).statusCode, 201)
  assert.deepEqual((await get(app, '/skills/greet/content')).rawPayload, source)
})

test('JSON content is a SKILL.md', async (t) => {
  const app = await buildTestApp(t)
  const response = await post(app, '/skills', { content: skillMd('greet') })
  assert.equal(response.statusCode, 201)
  assert.equal((await get(app, '/skills/greet/content')).body, skillMd('greet'))
})

test('a skill can be sent by its parts', async (t) => {
  const app = await buildTestApp(t)
  const parts = {
    description: 'Says: "hello" # loudly. Use when somebody greets.',
    allowed_tools: ['Read', 'Bash(git:*, npm:*)'],
    tags: ['small talk', '007'],
    license: 'MIT',
    compatibility: 'yes',
    metadata: { team: { lead: 'Ada', 'a:b': ['x', '1.10'] } },
  }
  const response = await post(app, '/skills', { name: 'greet', ...parts, body: '# Hi\n\n---\n' })
  assert.equal(response.statusCode, 201, response.body)
  const { body, ...skill } = (await get(app, '/skills/greet')).json()
  for (const [key, value] of Object.entries(parts)) assert.deepEqual(skill[key], value, key)
  assert.equal(body, '# Hi\n\n---\n')
})

test('parts that are null are left out', async (t) => {
  const app = await buildTestApp(t)
  const nothing = { allowed_tools: null, tags: null, license: null, metadata: null }
  const response = await post(app, '/skills', { name: 'greet', description, ...nothing })
  const { allowed_tools, tags, license, metadata } = response.json()
  assert.deepEqual([allowed_tools, tags, license, metadata], [null, [], null, {}])
  assert.doesNotMatch((await get(app, '/skills/greet/content')).body, /null|allowed|tags|license/)
})

const misfits = [
  ['an empty object', {}, '/name'],
  ['a name alone', { name: 'greet' }, '/description'],
  ['parts beside content', { content: 'x', description }, '/description'],
  ['a property that is not known', { content: 'x', colour: 'red' }, '/colour'],
  ['two that are not known', { content: 'x', 'a/b': 1, colour: 2 }, '/a~1b'],
  ['a name that is a number', { name: 7, description }, '/name'],
  ['a list where text belongs', { content: [] }, '/content'],
  ['null for the content', { content: null }, '/content'],
  [
    'tools that are no list',
    { name: 'greet', description, allowed_tools: 'Read' },
    '/allowed_tools',
  ],
  ['a tag that is a number', { name: 'greet', description, tags: ['a', 1] }, '/tags/1'],
  ['a file without content', { content: 'x', files: [{ path: 'a.txt' }] }, '/files/0/content'],
  [
    'a file with more',
    { content: 'x', files: [{ path: 'a', content: '', mode: 7 }] },
    '/files/0/mode',
  ],
  [
    'an unknown encoding',
    { content: 'x', files: [{ path: 'a', content: '', encoding: 'hex' }] },
    '/files/0/encoding',
  ],
  ['an empty path', { content: 'x', files: [{ path: '', content: '' }] }, '/files/0/path'],
  ['a list', [], '/'],
] as const

test('a JSON body that does not fit is body_invalid, and what is wrong named once', async (t) => {
  const app = await buildTestApp(t)
  for (const [title, payload, field] of misfits) {
    const problem = assertProblem(await post(app, '/skills', payload), 400, 'body_invalid')
    const fields = fieldsOf(problem)
    assert.equal(fields?.[0], field, title)
    assert.equal(new Set(fields).size, fields?.length, title)
  }
})

test('bundled files can be sent as text and as base64', async (t) => {
  const app = await buildTestApp(t)
  const bytes = Buffer.from([0, 255, 10, 13, 128])
  const response = await post(app, '/skills', {
    content: skillMd('greet'),
    files: [
      { path: 'scripts/run.py', content: 'print("ü")\n' },
      { path: 'logo.png', content: bytes.toString('base64'), encoding: 'base64' },
      { path: 'empty.txt', content: '', encoding: 'base64' },
      { path: '.DS_Store', content: 'x' },
      { path: '__MACOSX/._run.py', content: 'x' },
    ],
  })
  assert.equal(response.statusCode, 201, response.body)
  assert.equal(response.json().file_count, 3)
  assert.deepEqual(response.json().skipped, ['.DS_Store', '__MACOSX/._run.py'])
  assert.deepEqual((await get(app, '/skills/greet/files/logo.png')).rawPayload, bytes)
  assert.equal((await get(app, '/skills/greet/files/scripts/run.py')).body, 'print("ü")\n')
})

test('a change of a bundled file alone is a new version', async (t) => {
  const app = await buildTestApp(t)
  const version = async (content: string) => {
    const payload = { content: skillMd('greet'), files: [{ path: 'a.txt', content }] }
    const url = '/api/v1/skills/greet'
    return (await app.inject({ method: 'PUT', url, payload })).json().version
  }
  assert.deepEqual([await version('1'), await version('1'), await version('2')], [1, 1, 2])
})

test('content that is not base64 is refused, and its file named', async (t) => {
  const app = await buildTestApp(t)
  for (const content of ['not base64!', 'YQ', 'YQ=', 'YR==', 'YQ==\n', 'YWJj_-8=']) {
    const files = [
      { path: 'a.txt', content: '' },
      { path: 'b.bin', content, encoding: 'base64' },
    ]
    const response = await post(app, '/skills', { content: skillMd('greet'), files })
    assert.deepEqual(fieldsOf(assertProblem(response, 400, 'body_invalid')), ['/files/1/content'])
  }
})

const badPaths = [
  '/etc/passwd',
  'C:/x',
  'c:x',
  '../x',
  'a/../../x',
  'a//b',
  'a/',
  '\\x',
  'a\\..\\..\\x',
  'a\0b',
  'a\nb',
  'a\u0085b',
  `${'a/'.repeat(20)}b`,
  'ü'.repeat(130),
]

test('a bundle with a bad path is refused whole, and every such path named', async (t) => {
  const app = await buildTestApp(t)
  const content = skillMd('greet')
  for (const path of badPaths) {
    const files = [
      { path: 'good.txt', content: '' },
      { path, content: '' },
    ]
    const problem = assertProblem(
      await post(app, '/skills', { content, files }),
      422,
      'archive_path',
    )
    assert.equal(problem.errors.length, 1, path)
    assert.doesNotMatch(problem.errors[0].message, /\p{Cc}/u)
  }
  const files = badPaths.map((path) => ({ path, content: '' }))
  const problem = assertProblem(await post(app, '/skills', { content, files }), 422, 'archive_path')
  assert.equal(problem.errors.length, badPaths.length)
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

const duplicates = [
  ['the same path twice', ['a.txt', 'a.txt']],
  ['names that differ in case', ['a.txt', 'A.TXT']],
  ['names that differ in composition', ['é.txt', 'e\u0301.txt']],
  ['a file that is also a folder', ['a', 'a/b']],
  ['a folder that is also a file', ['A/b', 'a']],
  ['names that differ in the slash', ['a/b', 'a\\b']],
  ['a second SKILL.md', ['skill.md']],
] as const

test('files that would overwrite each other somewhere are archive_duplicate', async (t) => {
  const app = await buildTestApp(t)
  for (const [title, paths] of duplicates) {
    const files = paths.map((path) => ({ path, content: '' }))
    const response = await post(app, '/skills', { content: skillMd('greet'), files })
    assert.equal(response.json().code, 'archive_duplicate', title)
    assertProblem(response, 422, 'archive_duplicate')
  }
})

test('a skill over a limit is 413 and says both numbers', async (t) => {
  const env = {
    MAX_SKILL_BYTES: '300',
    MAX_FILE_BYTES: '10',
    MAX_BUNDLE_BYTES: '290',
    MAX_BUNDLE_FILES: '4',
  }
  const app = await buildTestApp(t, { env })
  const content = skillMd('greet')
  const file = (path: string, size: number) => ({ path, content: 'x'.repeat(size) })
  for (const [payload, code, numbers] of [
    [{ content: skillMd('greet', 'x'.repeat(300)) }, 'skill_too_large', /\d{3}.*300/],
    [{ content, files: [file('a', 11)] }, 'archive_too_large', /11.*10/],
    [
      {
        content: skillMd('greet', 'x'.repeat(180)),
        files: [file('a', 10), file('b', 10), file('c', 10)],
      },
      'archive_too_large',
      /\d{3}.*290/,
    ],
    [
      { content, files: ['a', 'b', 'c', 'd'].map((path) => file(path, 1)) },
      'archive_too_large',
      /5.*4/,
    ],
  ] as const) {
    assert.match(assertProblem(await post(app, '/skills', payload), 413, code).detail, numbers)
  }
})

const badQueries = [
  ['?colour=red', '/colour'],
  ['?mode=loose', '/mode'],
  ['?mode=strict&mode=lenient', '/mode'],
  ['?dry_run=yes', '/dry_run'],
  ['?dry_run=1', '/dry_run'],
  ['?activate=False', '/activate'],
  [`?note=${'x'.repeat(1001)}`, '/note'],
  ['?constructor=x', '/constructor'],
  ['?__proto__=x', '/__proto__'],
] as const

test('a query parameter that is unknown or does not fit is query_invalid, and named', async (t) => {
  const app = await buildTestApp(t)
  for (const [query, field] of badQueries) {
    const problem = assertProblem(await publish(app, skillMd('greet'), query), 400, 'query_invalid')
    assert.deepEqual(fieldsOf(problem), [field])
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('dry_run says what would be stored, and stores nothing', async (t) => {
  const app = await buildTestApp(t)
  const source = skillMd('greet')
  const response = await publish(app, source, '?dry_run=true')
  const { valid, errors, warnings, skill } = response.json()
  assert.deepEqual([response.statusCode, valid, errors, warnings], [200, true, [], []])
  assert.deepEqual([skill.name, skill.body], ['greet', 'Say hello.\n'])
  assertProblem(await get(app, '/skills/greet'), 404, 'skill_not_found')
  assert.equal((await get(app, '/catalog')).headers['x-catalog-revision'], '0')
  assert.equal((await publish(app, source, '?dry_run=false')).statusCode, 201)

  assert.equal((await put(app, 'greet?dry_run=true', skillMd('greet', 'Bye.'))).statusCode, 200)
  assert.equal((await get(app, '/skills/greet')).json().latest_version, 1)
})

test('dry_run refuses what the write would refuse', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const wrong = { 'if-match': '"wrong"' }
  for (const dry of ['', '?dry_run=true']) {
    assertProblem(await publish(app, skillMd('greet'), dry), 409, 'skill_exists')
    assertProblem(await publish(app, '---\nname: a\n---\n', dry), 422, 'description_missing')
    assertProblem(await put(app, `other${dry}`, skillMd('greet')), 422, 'name_mismatch')
    assertProblem(await put(app, `greet${dry}`, skillMd('greet'), wrong), 412, 'version_conflict')
    const none = { 'if-none-match': '*' }
    assertProblem(await put(app, `greet${dry}`, skillMd('greet'), none), 412, 'version_conflict')
    const headers = { 'content-type': 'text/markdown', ...wrong }
    const url = `/api/v1/skills${dry}`
    const both = await app.inject({ method: 'POST', url, headers, payload: skillMd('greet') })
    assertProblem(both, 412, 'version_conflict')
  }
})

test('a draft is in no catalog until it is made current', async (t) => {
  const app = await buildTestApp(t)
  const draft = await publish(app, skillMd('greet'), '?activate=false')
  assert.equal(draft.statusCode, 201)
  assert.deepEqual([draft.json().version, draft.json().latest_version], [null, 1])
  assert.equal((await get(app, '/catalog')).body, '(no skills available)')
  assert.deepEqual(namesOf(await get(app, '/skills')), ['greet'])
  assert.equal((await get(app, '/skills/greet')).json().body, 'Say hello.\n')

  const url = '/api/v1/skills/greet'
  const published = await app.inject({ method: 'PATCH', url, payload: { current_version: 1 } })
  assert.equal(published.json().version, 1)
  assert.match((await get(app, '/catalog')).body, /^- greet: /)
})

test('an edit of a draft leaves it a draft', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'), '?activate=false')
  const url = '/api/v1/skills/greet'
  const edited = await app.inject({ method: 'PATCH', url, payload: { body: 'Bye.\n' } })
  assert.deepEqual([edited.json().version, edited.json().latest_version], [null, 2])
  assert.equal((await get(app, '/catalog')).body, '(no skills available)')
})

test('a draft of a skill that is there leaves the current version in place', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const draft = await put(app, 'greet?activate=false', skillMd('greet', 'Say goodbye.'))
  assert.deepEqual([draft.json().version, draft.json().latest_version], [1, 2])
  assert.equal((await get(app, '/skills/greet')).json().body, 'Say hello.\n')
  assert.equal(
    (await get(app, '/skills/greet/versions/2/content?format=body')).body,
    'Say goodbye.\n',
  )
  const again = await put(app, 'greet?activate=false', skillMd('greet', 'Say goodbye.'))
  assert.equal(again.json().latest_version, 2)
})

test('a version that was declared before is warned of', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'One.', 'version: 1.0\n'))
  const again = await put(app, 'greet', skillMd('greet', 'Two.', 'version: 1.0\n'))
  const codes = again.json().warnings.map(({ code }: { code: string }) => code)
  assert.deepEqual(codes, ['declared_version_reused'])
  const raised = await put(app, 'greet', skillMd('greet', 'Two.', 'version: 1.1\n'))
  assert.deepEqual(raised.json().warnings, [])
})

const checks = [
  ['a sound skill', skillMd('greet'), '', true, undefined],
  ['a broken one', '---\nname: a\ndescription: b: c\n---\n', '', false, 'frontmatter_yaml'],
  [
    'a broken one, leniently',
    '---\nname: a\ndescription: b: c\n---\n',
    '?mode=lenient',
    true,
    undefined,
  ],
  ['one without a block', 'Just text.', '', false, 'frontmatter_missing'],
  ['one without a block, leniently', 'Just text.', '?mode=lenient&name=x', true, undefined],
  ['another name', skillMd('greet'), '?name=other', false, 'name_mismatch'],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x41, 0]), '', false, 'encoding_not_utf8'],
] as const

test('validate answers 200 for whatever can be read, and stores nothing', async (t) => {
  const app = await buildTestApp(t)
  const headers = { 'content-type': 'text/markdown' }
  for (const [title, source, query, valid, code] of checks) {
    const response = await post(app, `/skills/validate${query}`, Buffer.from(source), headers)
    const checked = response.json()
    assert.deepEqual([response.statusCode, checked.valid], [200, valid], title)
    assert.equal(checked.errors[0]?.code, code, title)
    assert.equal(checked.skill === null, !valid, title)
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('validate takes JSON, and a name that is taken', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const files = [{ path: '../x', content: '' }]
  for (const [payload, valid] of [
    [{ content: skillMd('greet') }, true],
    [{ name: 'greet', description }, true],
    [{ content: skillMd('greet'), files }, false],
  ] as const) {
    const response = await post(app, '/skills/validate', payload)
    assert.deepEqual([response.statusCode, response.json().valid], [200, valid])
  }
})

test('validate refuses what cannot be read as a request', async (t) => {
  const app = await buildTestApp(t, { env: { MAX_REQUEST_BYTES: '200' } })
  const url = '/skills/validate'
  assertProblem(await post(app, url, { colour: 1 }), 400, 'body_invalid')
  assertProblem(await post(app, `${url}?dry_run=true`, { content: 'x' }), 400, 'query_invalid')
  assertProblem(
    await post(app, url, Buffer.from('{'), { 'content-type': 'application/json' }),
    400,
    'body_invalid',
  )
  assertProblem(await post(app, url, { content: 'x'.repeat(300) }), 413, 'body_too_large')
  assertProblem(
    await post(app, url, Buffer.from('x'), { 'content-type': 'image/png' }),
    415,
    'media_type',
  )
})
