import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { buildTestApp, get, publish, put, type TestApp } from '../build-app.ts'
import { assertProblem, namesOf, patch, remove } from '../requests.ts'

const described = (name: string, description: string, more = '', body = 'Look in the drawer.') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}\n`

const search = (app: TestApp, q: string, more = '') =>
  get(app, `/skills?q=${encodeURIComponent(q)}${more}`)

async function find(app: TestApp, q: string, more = ''): Promise<string> {
  const response = await search(app, q, more)
  assert.equal(response.statusCode, 200, response.body)
  return namesOf(response).join()
}

suite('a search for skills', { concurrency: 2 }, () => {
  test('finds Chinese words inside of sentences, and Latin ones glued to them', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, described('weekly', '每周五自动生成周报并发送到邮箱，支持Excel导出。'))
    for (const q of ['周报', '生成周报', 'excel']) assert.equal(await find(app, q), 'weekly')
    assert.equal(await find(app, '月报'), '')
  })

  const text = "Runs a multi-agent desk, don't ask @team about C++ (a:b)."
  for (const [q, found] of [
    ['multi-agent', true],
    ["don't", true],
    ['@team', true],
    ['"unbalanced', false],
    ['a:b', true],
    ['*', false],
    ['NOT', false],
    ['(', false],
    ['AND OR', false],
    ['-desk', true],
    ['%', false],
    ['_', false],
    ['C++', true],
    ['name:desk', true],
    ['body:drawer', false],
    ['^desk*', true],
    ['NEAR(desk ask, 2)', true],
    ["' OR 1=1 --", false],
    ['\0', false],
    ['\\', false],
    [`${'desk '.repeat(2000)}`, true],
    ['', false],
  ] as const) {
    test(`takes ${JSON.stringify(q.slice(0, 20))} for words, not for an operator`, async (t) => {
      const app = await buildTestApp(t)
      await publish(app, described('multi-agent-desk', text))
      const response = await search(app, q)
      assert.equal(response.statusCode, 200, response.body)
      assert.doesNotMatch(response.body, /fts5|no such column|SQLITE_/i)
      assert.deepEqual(namesOf(response), found ? ['multi-agent-desk'] : [])
    })
  }

  test('has the best hit first, with a score, and a name before a description', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, described('kettle', 'Boils water for tea.'))
    await publish(app, described('tea', 'Boils water for it.'))
    for (let at = 0; at < 6; at++) await publish(app, described(`plant-${at}`, 'Needs light.'))
    const { data, next_cursor } = (await search(app, 'Tea!')).json()
    assert.deepEqual(
      data.map(({ name }: { name: string }) => name),
      ['tea', 'kettle'],
    )
    assert.ok(data[0].score > data[1].score && data[1].score > 0)
    assert.equal(next_cursor, null)
    assert.equal(data[0].file_count, 0)
    assert.equal(await find(app, 'tea', '&sort=name'), 'kettle,tea')
    assert.equal(await find(app, 'tea', '&sort=-updated_at'), 'tea,kettle')
    assert.equal(await find(app, 'tea', '&sort=relevance&limit=1'), 'tea')
    const listed = (await get(app, '/skills?limit=1')).json().data[0]
    assert.ok(!('score' in listed))
  })

  test('goes with the filters of the list', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, described('a', 'Boils tea.', 'tags: [hot, new]\nallowed-tools: Read\n'))
    await publish(app, described('b', 'Boils tea.', 'tags: hot\n'))
    await publish(app, described('c', 'Boils milk.', 'tags: hot\n'))
    await patch(app, 'b', { enabled: false })
    assert.equal(await find(app, 'tea', '&sort=name'), 'a,b')
    assert.equal(await find(app, 'tea', '&tag=hot&tag=new'), 'a')
    assert.equal(await find(app, 'tea', '&tool=Read'), 'a')
    assert.equal(await find(app, 'tea', '&enabled=false'), 'b')
    assert.equal(await find(app, 'tea', '&enabled=true&source=api'), 'a')
    assert.equal(await find(app, 'tea', '&source=directory'), '')
  })

  test('knows a skill from its writing to its end, as it then is', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, described('drink', 'Boils tea.'))
    assert.equal(await find(app, 'tea'), 'drink')
    await put(app, 'drink', described('drink', 'Boils coffee.'))
    assert.equal(await find(app, 'tea'), '')
    assert.equal(await find(app, 'coffee'), 'drink')
    await patch(app, 'drink', { description: 'Boils cocoa.' })
    assert.equal(await find(app, 'coffee'), '')
    assert.equal(await find(app, 'cocoa'), 'drink')
    await patch(app, 'drink', { current_version: 1 })
    assert.equal(await find(app, 'tea'), 'drink')
    await remove(app, 'drink')
    assert.equal(await find(app, 'tea coffee cocoa drink'), '')
  })

  test('is walked page by page without a hit missed or met twice', async (t) => {
    const app = await buildTestApp(t)
    for (let at = 0; at < 11; at++) {
      await publish(app, described(`s-${at}`, `Boils tea. ${'And then rests. '.repeat(at % 3)}`))
    }
    const all = (await find(app, 'tea')).split(',')
    assert.equal(all.length, 11)
    for (const limit of [1, 4, 5, 11]) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const page = await search(app, 'tea', `&limit=${limit}${cursor}`)
        seen.push(...namesOf(page))
        const { next_cursor } = page.json()
        if (next_cursor === null) break
        cursor = `&cursor=${next_cursor}`
        await publish(app, described(`plant-${limit}-${seen.length}`, 'Needs light and water.'))
      }
      assert.deepEqual(seen, all)
    }
  })

  test('refuses cursors that are not its own, and relevance without a query', async (t) => {
    const app = await buildTestApp(t)
    for (const name of ['a', 'b']) await publish(app, described(name, 'Boils tea.'))
    const { next_cursor } = (await get(app, '/skills?limit=1')).json()
    const key = (text: string) => Buffer.from(text).toString('base64url')
    for (const cursor of [
      next_cursor,
      'AAAA',
      key('skills:relevance\nx y'),
      key('skills:relevance\n1.2.3 y'),
      key("skills:relevance\n1 a' or 1=1"),
    ]) {
      assertProblem(await search(app, 'tea', `&cursor=${cursor}`), 400, 'cursor_invalid')
    }
    assertProblem(await get(app, '/skills?sort=relevance'), 400, 'query_invalid')
  })
})

test('a catalog over its ceiling keeps the lines that match the query', async (t) => {
  const app = await buildTestApp(t)
  for (let at = 0; at < 40; at++) await publish(app, described(`plant-${at}`, 'Needs much light.'))
  await publish(app, described('zebra', 'Counts the stripes.', 'tags: animal\n'))
  await publish(app, described('zz', 'Counts zebras.', 'disable-model-invocation: true\n'))
  const ask = async (query: string) => (await get(app, `/catalog?format=json&${query}`)).json()
  const { text, offered, omitted, tokens } = await ask('max_tokens=100&q=stripes')
  assert.match(text, /\n- zebra: Counts the stripes\.\n\(\d+ more skills: use search_skills /)
  assert.ok(tokens <= 100 && offered.length > 2)
  assert.equal(offered.length + omitted.length, 41)
  assert.deepEqual([offered.at(-1).name, offered.at(-1).shown], ['zebra', 'full'])
  assert.ok((await ask('max_tokens=100')).omitted.includes('zebra'))
  assert.ok(!(await ask('max_tokens=100&q=zebras')).text.includes('zz'))
  assert.equal((await ask('q=stripes')).text, (await ask('')).text)
  assert.equal((await ask('max_tokens=100&q=*')).text, (await ask('max_tokens=100')).text)
  assert.match((await get(app, '/catalog?max_tokens=100&q=stripes&tag=animal')).body, /^- zebra: /)
})
