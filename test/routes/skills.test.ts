import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem, fieldsOf, namesOf, patch, remove, send } from '../requests.ts'

async function walk(app: TestApp, query: string, between = async (_: number) => {}) {
  const names: string[] = []
  let cursor: string | null = ''
  for (let pages = 1; cursor !== null; pages++) {
    const page = await get(app, `/skills?${query}${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.statusCode, 200, page.body)
    names.push(...namesOf(page))
    cursor = page.json().next_cursor
    if (cursor !== null) await between(pages)
  }
  return names
}

test('without skills the list is empty', async (t) => {
  const app = await buildTestApp(t)
  const response = await get(app, '/skills')
  assert.deepEqual([response.statusCode, response.json()], [200, { data: [], next_cursor: null }])
})

test('an element of the list is the skill without its body and files', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  const { body, files, ...summary } = (await get(app, '/skills/greet')).json()
  assert.deepEqual([body, files], ['Say hello.\n', []])
  assert.deepEqual((await get(app, '/skills')).json().data, [summary])
})

test('the list is in code-point order of the names, twenty at a time', async (t) => {
  const app = await buildTestApp(t)
  const names = ['b', 'a-b', 'a', 'ab', 'a1', ...Array.from({ length: 20 }, (_, n) => `s${n}`)]
  for (const name of names) await publish(app, skillMd(name))
  const first = await get(app, '/skills')
  assert.equal(first.json().data.length, 20)
  assert.deepEqual(await walk(app, ''), names.toSorted())
  assert.deepEqual(await walk(app, 'limit=100'), names.toSorted())
})

test('a last page that is full has no cursor', async (t) => {
  const app = await buildTestApp(t)
  for (const name of ['a', 'b']) await publish(app, skillMd(name))
  assert.equal((await get(app, '/skills?limit=2')).json().next_cursor, null)
})

test('the list can be filtered by tags, tool, state and source', async (t) => {
  const app = await buildTestApp(t)
  await publish(
    app,
    skillMd('one', 'x', 'tags: [Quality, code]\nallowed-tools: Read, Bash(git:*)\n'),
  )
  await publish(app, skillMd('two', 'x', 'tags: [quality]\nallowed-tools: Read\n'))
  await publish(app, skillMd('three', 'x', 'allowed-tools: []\n'))
  await patch(app, 'two', { enabled: false })
  for (const [query, names] of [
    ['tag=quality', ['one', 'two']],
    ['tag=QUALITY', ['one', 'two']],
    ['tag=quality&tag=code', ['one']],
    ['tag=quality&tag=quality', ['one', 'two']],
    ['tag=qual', []],
    ['tag=', []],
    ['tag=%25', []],
    ['tag=%00', []],
    ['tool=Read', ['one', 'two']],
    ['tool=Bash(git:*)', ['one']],
    ['tool=Bash', []],
    ['enabled=true', ['one', 'three']],
    ['enabled=false', ['two']],
    ['source=api', ['one', 'three', 'two']],
    ['source=directory', []],
    ['tag=quality&enabled=true&tool=Read&source=api', ['one']],
  ] as const) {
    assert.deepEqual(namesOf(await get(app, `/skills?${query}`)), names, query)
  }
})

test('filters look at the current version', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'x', 'tags: [old]\n'))
  await put(app, 'greet', skillMd('greet', 'x', 'tags: [new]\n'))
  assert.deepEqual(namesOf(await get(app, '/skills?tag=old')), [])
  await patch(app, 'greet', { current_version: 1 })
  assert.deepEqual(namesOf(await get(app, '/skills?tag=old')), ['greet'])
})

test('sorted by -updated_at the last written comes first, also within a millisecond', async (t) => {
  const app = await buildTestApp(t)
  const names = ['c', 'a', 'e', 'b', 'd']
  for (const name of names) await publish(app, skillMd(name))
  assert.deepEqual(await walk(app, 'sort=-updated_at&limit=2'), names.toReversed())
  await patch(app, 'a', { license: 'MIT' })
  assert.deepEqual(await walk(app, 'sort=-updated_at&limit=2'), ['a', 'd', 'b', 'e', 'c'])
})

for (const sort of ['name', '-updated_at']) {
  test(`walking by ${sort} while skills come and go keeps each that stays, once`, async (t) => {
    const app = await buildTestApp(t)
    const staying = Array.from({ length: 9 }, (_, index) => `s${index}`)
    const leaving = staying.map((name) => `${name}-leaves`)
    for (const name of [...staying, ...leaving]) await publish(app, skillMd(name))
    const names = await walk(app, `limit=2&sort=${sort}`, async (page) => {
      await publish(app, skillMd(`a${page}-new`))
      await publish(app, skillMd(`z${page}-new`))
      const gone = leaving.shift()
      if (gone) await remove(app, gone)
    })
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(names.filter((name) => staying.includes(name)).toSorted(), staying)
  })
}

test('a skill is read by its name alone', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const name of [
    'Greet',
    'greet%20',
    '%00',
    'greet%00',
    'constructor',
    '__proto__',
    'toString',
    '..%2f..%2fetc%2fpasswd',
    'a%2fb',
    '%F0%9F%98%80',
    'x'.repeat(1000),
  ]) {
    assertProblem(await get(app, `/skills/${name}`), 404, 'skill_not_found')
  }
  assert.equal((await get(app, `/skills/${'x'.repeat(10_000)}`)).statusCode, 404)
})

test('a name that is not there brings the nearest five', async (t) => {
  const app = await buildTestApp(t)
  for (const name of [
    'code-review',
    'code-reviews',
    'code-reviewer',
    'review-code',
    'code-view',
    'code-preview',
    'pdf',
  ]) {
    await publish(app, skillMd(name))
  }
  const problem = assertProblem(await get(app, '/skills/code-revue'), 404, 'skill_not_found')
  assert.equal(problem.suggestions.length, 5)
  assert.ok(problem.suggestions.includes('code-review'))
  assert.equal(
    assertProblem(await get(app, '/skills/zzzz'), 404, 'skill_not_found').suggestions,
    undefined,
  )
})

test('Accept: text/markdown gives the file itself', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const [accept, type] of [
    ['text/markdown', 'text/markdown; charset=utf-8'],
    ['text/markdown, text/plain;q=0.5', 'text/markdown; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['application/json, text/markdown', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['text/markdownish', 'application/json; charset=utf-8'],
  ] as const) {
    const response = await get(app, '/skills/greet', { accept })
    assert.equal(response.headers['content-type'], type, accept)
    assert.equal(response.headers.vary, 'accept')
    if (type.startsWith('text')) assert.equal(response.body, skillMd('greet'))
  }
  const gone = await get(app, '/skills/gone', { accept: 'text/markdown' })
  assertProblem(gone, 404, 'skill_not_found')
})

test('HEAD says what GET would, without a body', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  for (const path of ['/skills', '/skills/greet', '/skills/greet/content', '/catalog']) {
    const full = await get(app, path)
    const head = await send(app, 'HEAD', path)
    assert.deepEqual([head.statusCode, head.body], [200, ''])
    for (const name of ['content-type', 'content-length', 'etag']) {
      assert.equal(head.headers[name], full.headers[name], `${name} of ${path}`)
    }
  }
  assert.equal((await send(app, 'HEAD', '/skills/gone')).statusCode, 404)
})

const badQueries = [
  ['limit=0', '/limit'],
  ['limit=101', '/limit'],
  ['limit=2.5', '/limit'],
  ['limit=2.0', '/limit'],
  ['limit=1e1', '/limit'],
  ['limit=%202', '/limit'],
  ['limit=+2', '/limit'],
  ['limit=-1', '/limit'],
  ['limit=0x5', '/limit'],
  ['limit=ten', '/limit'],
  ['limit=', '/limit'],
  ['limit=2&limit=3', '/limit'],
  ['limit=99999999999999999999', '/limit'],
  ['enabled=yes', '/enabled'],
  ['enabled=1', '/enabled'],
  ['enabled=True', '/enabled'],
  ['source=disk', '/source'],
  ['sort=updated_at', '/sort'],
  ['tool=a&tool=b', '/tool'],
  ['colour=red', '/colour'],
  ['q[x]=1', '/q[x]'],
] as const

test('a parameter that is unknown or does not fit is query_invalid, and named', async (t) => {
  const app = await buildTestApp(t)
  for (const [query, field] of badQueries) {
    const problem = assertProblem(await get(app, `/skills?${query}`), 400, 'query_invalid')
    assert.deepEqual(fieldsOf(problem), [field])
  }
  const many = Array.from({ length: 21 }, () => 'tag=a').join('&')
  assertProblem(await get(app, `/skills?${many}`), 400, 'query_invalid')
  const both = assertProblem(await get(app, '/skills?colour=red&limit=0'), 400, 'query_invalid')
  assert.deepEqual(fieldsOf(both)?.toSorted(), ['/colour', '/limit'])
})
