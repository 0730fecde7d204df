import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, fieldsOf, patch, remove } from '../requests.ts'

const described = (name: string, description: string, more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nHi.\n`

async function withThree(app: TestApp) {
  await publish(
    app,
    described('b', '|\n  Cuts  <b> & "c".\n\n  Use when asked.', 'tags: [x, "<y>"]\n'),
  )
  await publish(app, described('a-1', 'Adds. Use when asked.', 'tags: [x]\n'))
  await publish(app, described('a', 'Asks. Use when asked.'))
}

const xml = (...skills: [name: string, description: string][]) =>
  [
    '<available_skills>',
    ...skills.map(
      ([name, description]) =>
        `<skill>\n<name>\n${name}\n</name>\n<description>\n${description}\n</description>\n</skill>`,
    ),
    '</available_skills>',
  ].join('\n')

test('without skills the catalog says so', async (t) => {
  const app = await buildTestApp(t)
  const response = await get(app, '/catalog')
  assert.deepEqual([response.statusCode, response.body], [200, '(no skills available)'])
  assert.equal(response.headers['x-catalog-revision'], '0')
  assert.equal(
    (await get(app, '/catalog?format=xml')).body,
    '<available_skills>\n</available_skills>',
  )
  const { offered, omitted } = (await get(app, '/catalog?format=json')).json()
  assert.deepEqual([offered, omitted], [[], []])
})

test('a list has a line for each skill, folded and escaped, by code points of the names', async (t) => {
  const app = await buildTestApp(t)
  await withThree(app)
  const lines = [
    '- a: Asks. Use when asked.',
    '- a-1: Adds. Use when asked.',
    '- b: Cuts &lt;b&gt; &amp; "c". Use when asked.',
  ]
  for (const query of ['', '?format=list', '?tags=false']) {
    const response = await get(app, `/catalog${query}`)
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(response.body, lines.join('\n'))
  }
  const tagged = [lines[0], `${lines[1]} [x]`, `${lines[2]} [x, &lt;y&gt;]`]
  assert.equal((await get(app, '/catalog?tags=true')).body, tagged.join('\n'))
})

test('xml is the block of Agent Skills', async (t) => {
  const app = await buildTestApp(t)
  await withThree(app)
  const response = await get(app, '/catalog?format=xml')
  assert.equal(
    response.body,
    xml(
      ['a', 'Asks. Use when asked.'],
      ['a-1', 'Adds. Use when asked.'],
      ['b', 'Cuts &lt;b&gt; &amp; &quot;c&quot;. Use when asked.'],
    ),
  )
})

test('json tells what is offered, and its text and numbers are those of the headers', async (t) => {
  const app = await buildTestApp(t)
  await withThree(app)
  const text = await get(app, '/catalog')
  const response = await get(app, '/catalog?format=json')
  const catalog = response.json()
  assert.deepEqual(Object.keys(catalog), ['revision', 'tokens', 'offered', 'omitted', 'text'])
  assert.equal(catalog.text, text.body)
  for (const { headers } of [text, response]) {
    assert.equal(headers['x-catalog-revision'], `${catalog.revision}`)
    assert.equal(headers['x-catalog-tokens'], `${catalog.tokens}`)
  }
  const { digest } = (await get(app, '/skills/a')).json()
  assert.deepEqual(catalog.offered[0], { name: 'a', version: 1, digest, shown: 'full' })
  assert.deepEqual(catalog.omitted, [])
})

test('the catalog can be narrowed by names and by tags', async (t) => {
  const app = await buildTestApp(t)
  await withThree(app)
  for (const [query, names] of [
    ['name=a', ['a']],
    ['name=a&name=b&name=gone', ['a', 'b']],
    ['tag=x', ['a-1', 'b']],
    ['tag=X', ['a-1', 'b']],
    ['tag=x&tag=%3Cy%3E', ['b']],
    ['tag=x&name=a', []],
    ['name=constructor', []],
  ] as const) {
    const { offered } = (await get(app, `/catalog?format=json&${query}`)).json()
    assert.deepEqual(
      offered.map(({ name }: { name: string }) => name),
      names,
      query,
    )
  }
})

test('max_tokens is a ceiling under which the catalog degrades, and loses no skill silently', async (t) => {
  const app = await buildTestApp(t)
  const names = Array.from({ length: 12 }, (_, index) => `skill-${index}`)
  const words =
    'Writes long reports on many things that nobody reads. Use when somebody asks for one.'
  for (const name of names) await publish(app, described(name, words))
  const whole = (await get(app, '/catalog?format=json')).json()
  const ways = new Set<string>()
  for (let budget = whole.tokens; budget > 0; budget = Math.floor(budget * 0.8)) {
    const catalog = (await get(app, `/catalog?format=json&max_tokens=${budget}`)).json()
    assert.ok(catalog.tokens <= budget, `${catalog.tokens} of ${budget}`)
    const shown = catalog.offered.map(({ name }: { name: string }) => name)
    assert.deepEqual([...shown, ...catalog.omitted].toSorted(), names.toSorted())
    if (catalog.omitted.length > 0 && catalog.offered.length > 0) {
      assert.match(catalog.text, new RegExp(`\\n\\(${catalog.omitted.length} more `))
    }
    for (const { shown } of catalog.offered) ways.add(shown)
  }
  assert.deepEqual([...ways].toSorted(), ['full', 'name', 'short'])
})

test('a write is in the next catalog, whose revision rises', async (t) => {
  const app = await buildTestApp(t)
  let before = 0
  for (const [write, text] of [
    [() => publish(app, described('a', 'Adds. Use when asked.')), '- a: Adds. Use when asked.'],
    [() => put(app, 'a', described('a', 'Bends. Use when asked.')), '- a: Bends. Use when asked.'],
    [() => patch(app, 'a', { description: 'Cuts. Use when asked.' }), '- a: Cuts. Use when asked.'],
    [() => patch(app, 'a', { current_version: 1 }), '- a: Adds. Use when asked.'],
    [() => patch(app, 'a', { enabled: false }), '(no skills available)'],
    [() => patch(app, 'a', { enabled: true }), '- a: Adds. Use when asked.'],
    [() => remove(app, 'a'), '(no skills available)'],
  ] as const) {
    assert.ok((await write()).statusCode < 300)
    const { body, headers } = await get(app, '/catalog')
    assert.equal(body, text)
    assert.ok(Number(headers['x-catalog-revision']) > before)
    before = Number(headers['x-catalog-revision'])
  }
})

test('while nothing is written the catalog keeps bytes, revision and tag', async (t) => {
  const app = await buildTestApp(t)
  await withThree(app)
  const first = await get(app, '/catalog')
  await get(app, '/skills')
  await put(app, 'a', described('a', 'Asks. Use when asked.'))
  assertProblem(await publish(app, skillMd('a')), 409, 'skill_exists')
  const again = await get(app, '/catalog')
  assert.deepEqual(
    [again.body, again.headers.etag, again.headers['x-catalog-revision']],
    [first.body, first.headers.etag, first.headers['x-catalog-revision']],
  )
  const etag = String(first.headers.etag)
  const unchanged = await get(app, '/catalog', { 'if-none-match': etag })
  assert.deepEqual([unchanged.statusCode, unchanged.body], [304, ''])
  assert.equal(unchanged.headers.etag, etag)
  assert.equal(unchanged.headers['x-catalog-revision'], first.headers['x-catalog-revision'])
})

test('a skill that models may not call is in no catalog', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'Hi.', 'disable-model-invocation: true\n'))
  assert.equal((await get(app, '/catalog')).body, '(no skills available)')
  assert.equal((await get(app, '/skills/greet')).statusCode, 200)
})

test('a parameter that is unknown or does not fit is query_invalid, and named', async (t) => {
  const app = await buildTestApp(t)
  for (const [query, field] of [
    ['format=yaml', '/format'],
    ['max_tokens=0', '/max_tokens'],
    ['max_tokens=200001', '/max_tokens'],
    ['max_tokens=1.5', '/max_tokens'],
    ['max_tokens=', '/max_tokens'],
    ['tags=yes', '/tags'],
    ['colour=red', '/colour'],
  ] as const) {
    const problem = assertProblem(await get(app, `/catalog?${query}`), 400, 'query_invalid')
    assert.deepEqual(fieldsOf(problem), [field])
  }
})
