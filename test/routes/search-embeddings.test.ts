import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { refuse } from '../agent/fake-provider.ts'
import { talk } from '../agent/talk.ts'
import { buildTestApp, get, publish, put, type TestApp } from '../build-app.ts'
import { conceptEndpoint } from '../concept-endpoint.ts'
import { assertProblem, namesOf, patch, remove } from '../requests.ts'
import { until } from '../run-service.ts'
import { call, say } from '../scripted-model.ts'

const described = (name: string, description: string, more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nDo it.\n`

const search = (app: TestApp, q: string, more = '') =>
  get(app, `/skills?q=${encodeURIComponent(q)}${more}`)

async function find(app: TestApp, q: string, more = ''): Promise<string> {
  const response = await search(app, q, more)
  assert.equal(response.statusCode, 200, response.body)
  return namesOf(response).join()
}

async function open(t: TestContext, skills: string[] = [], env: Record<string, string> = {}) {
  const endpoint = await conceptEndpoint(t)
  const app = await buildTestApp(t, { env: { ...endpoint.env, ...env } })
  for (const content of skills) assert.equal((await publish(app, content)).statusCode, 201)
  return { app, endpoint }
}

const kettle = described('kettle', 'Boils water and steeps tea leaves.')
const ledger = described('ledger', 'Writes an invoice.')

suite('a search with an embeddings endpoint', { concurrency: 4 }, () => {
  test('finds what shares no word with the query, and is asked once for a query', async (t) => {
    const { app, endpoint } = await open(t, [kettle, ledger])
    await until(async () => (await find(app, 'beverage please')) === 'kettle')
    await until(async () => (await find(app, 'billing')) === 'ledger')
    assert.equal(await find(app, 'zeppelin'), '')
    const before = endpoint.asked.length
    for (let times = 0; times < 3; times++) await find(app, 'billing')
    assert.equal(endpoint.asked.length, before)
    const [first] = endpoint.asked
    assert.equal(first?.url, '/v1/embeddings')
    assert.equal(first?.model, 'text-embedding-3-small')
    assert.equal(first?.headers.authorization, undefined)
  })

  test('without an endpoint does not', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, kettle)
    assert.equal(await find(app, 'beverage please'), '')
  })

  test('ranks first what words and meaning both find, with scores that fall', async (t) => {
    const { app, endpoint } = await open(t, [
      described('a-word', 'Sells a beverage can opener. Brings no thirst but bridge and garden.'),
      described('b-both', 'Makes a beverage.'),
      described('c-meaning', 'Steeps tea.'),
    ])
    await endpoint.wasAsked('Steeps tea')
    await until(async () => (await find(app, 'beverage')).includes('c-meaning'))
    const { data } = (await search(app, 'beverage')).json()
    assert.equal(data[0].name, 'b-both')
    assert.equal(data.length, 3)
    assert.ok(data[0].score > data[1].score && data[1].score >= data[2].score)
  })

  test('knows a skill by its words from its writing on', async (t) => {
    const { app, endpoint } = await open(t)
    endpoint.answers(() => {})
    await publish(app, kettle)
    assert.equal(await find(app, 'steeps'), 'kettle')
  })

  test('never finds a skill by what it once meant', async (t) => {
    const names = ['updated', 'deleted', 'disabled', 'other']
    const { app, endpoint } = await open(
      t,
      names.map((name) => described(name, 'Steeps tea.')),
    )
    await until(async () => (await find(app, 'thirst')).split(',').length === 4)
    endpoint.answers(refuse(500))
    await put(app, 'updated', described('updated', 'Writes an invoice.'))
    await remove(app, 'deleted')
    await patch(app, 'disabled', { enabled: false })
    assert.equal(await find(app, 'thirst'), 'disabled,other')
    assert.equal(await find(app, 'thirst', '&enabled=true'), 'other')
    await publish(app, described('deleted', 'Builds a viaduct.'))
    assert.equal(await find(app, 'thirst'), 'disabled,other')
    endpoint.answers(undefined)
    await until(async () => (await find(app, 'billing')) === 'updated')
    assert.equal(await find(app, 'bridges'), 'deleted')
  })

  test('goes with the filters of the list', async (t) => {
    const { app } = await open(t, [
      described('a', 'Steeps tea.', 'tags: [hot, new]\nallowed-tools: Read\n'),
      described('b', 'Steeps tea.', 'tags: hot\n'),
      described('c', 'Writes an invoice.', 'tags: hot\n'),
    ])
    await patch(app, 'b', { enabled: false })
    await until(async () => (await find(app, 'beverage')) === 'a,b')
    assert.equal(await find(app, 'beverage', '&tag=hot'), 'a,b')
    assert.equal(await find(app, 'beverage', '&tag=hot&tag=new'), 'a')
    assert.equal(await find(app, 'beverage', '&tool=Read'), 'a')
    assert.equal(await find(app, 'beverage', '&enabled=false'), 'b')
    assert.equal(await find(app, 'beverage', '&enabled=true&source=api'), 'a')
    assert.equal(await find(app, 'beverage', '&source=directory'), '')
    // By name or time it stays a search for words.
    assert.equal(await find(app, 'beverage', '&sort=name'), '')
  })

  test('is walked page by page without a hit missed or met twice, whatever happens', async (t) => {
    const skills = Array.from({ length: 12 }, (_, at) =>
      described(`s-${at}`, at % 2 ? 'Steeps tea.' : `Pours a beverage. ${'It rests. '.repeat(at)}`),
    )
    const { app, endpoint } = await open(t, skills)
    await until(async () => (await find(app, 'beverage')).split(',').length === 12)
    const seen: string[] = []
    for (let cursor = '', page = 0; ; page++) {
      const response = await search(app, 'beverage', `&limit=5${cursor}`)
      seen.push(...namesOf(response))
      const { next_cursor } = response.json()
      if (next_cursor === null) break
      cursor = `&cursor=${next_cursor}`
      if (page === 0) {
        endpoint.answers(refuse(500))
        for (const name of ['new-1', 'new-2']) {
          await publish(app, described(name, 'A beverage, beverage, beverage.'))
        }
        await remove(app, seen.at(-1) ?? '')
      }
    }
    assert.deepEqual(seen.toSorted(), skills.map((_, at) => `s-${at}`).toSorted())
  })

  test('takes no cursor that is not its own', async (t) => {
    const { app } = await open(t, [kettle, ledger])
    const { next_cursor } = (await get(app, '/skills?limit=1')).json()
    for (const cursor of [next_cursor, 'AAAA', Buffer.from('skills:hits\nx').toString('base64url')])
      assertProblem(await search(app, 'tea', `&cursor=${cursor}`), 400, 'cursor_invalid')
  })

  test('takes any words', async (t) => {
    const { app } = await open(t, [kettle])
    await until(async () => (await find(app, 'thirsty')) === 'kettle')
    for (const q of ['', ' ', '\0', '\ud800 thirsty', '👋', `thirsty ${'x '.repeat(4000)}`]) {
      assert.equal((await search(app, q.toWellFormed())).statusCode, 200)
    }
  })
})

suite('what models are offered, with an embeddings endpoint', { concurrency: 4 }, () => {
  const crowd = Array.from({ length: 40 }, (_, at) =>
    described(`skill-${at}`, `Handles affair ${at}. It takes its time with that.`),
  )
  const secret = described('secret', 'Steeps tea.', 'disable-model-invocation: true\n')
  const line = '- kettle: Boils water and steeps tea leaves.'

  test('a catalog over its ceiling shows what is meant', async (t) => {
    const { app } = await open(t, [...crowd, kettle, secret])
    const ask = async (q: string) =>
      (await get(app, `/catalog?max_tokens=150&q=${encodeURIComponent(q)}`)).body
    assert.ok(!(await ask('zeppelin')).includes(line))
    await until(async () => (await ask('a beverage')).includes(line))
    assert.ok(!(await ask('a beverage')).includes('secret: '))
    assert.ok(!(await ask('a beverage')).includes('- skill-39: '))
  })

  test('a conversation finds what it is about, and its prompt keeps its bytes', async (t) => {
    const endpoint = await conceptEndpoint(t)
    const script = [
      call('search_skills', { query: 'viaducts' }),
      call('search_skills', { query: 'thirst' }),
      say('Done.'),
      say('Done.'),
    ]
    const { app, ask, requests, sent } = await talk(t, script, {
      skills: [...crowd, described('spans', 'Plans a bridge.'), kettle, secret],
      env: { ...endpoint.env, CATALOG_MAX_TOKENS: '200' },
    })
    await until(async () => (await find(app, 'thirst')).includes('kettle'))
    const { conversation_id } = await ask({ message: 'I would like a beverage.' })
    endpoint.answers(refuse(500))
    await ask({ conversation_id, message: 'And now?' })
    assert.ok(sent()[0]?.system.includes(line))
    const results = sent()[2]?.results.map(({ text }) => text)
    assert.deepEqual(results, ['- spans: Plans a bridge.', line])
    const prompts = requests.map(({ body: { system, tools } }) => JSON.stringify([system, tools]))
    assert.equal(prompts.length, 4)
    assert.equal(new Set(prompts).size, 1)
  })

  test('a choice that was made by words alone stays until a skill is written', async (t) => {
    const endpoint = await conceptEndpoint(t)
    const { app, ask, sent } = await talk(t, [say('One.'), say('Two.'), say('Three.')], {
      skills: [...crowd, kettle],
      env: { ...endpoint.env, CATALOG_MAX_TOKENS: '200' },
    })
    await until(async () => (await find(app, 'thirst')).includes('kettle'))
    endpoint.answers(refuse(500))
    const { conversation_id } = await ask({ message: 'I would like a beverage.' })
    endpoint.answers(undefined)
    await until(async () => (await find(app, 'beverage')) === 'kettle')
    await ask({ conversation_id, message: 'And now?' })
    await publish(app, ledger)
    await ask({ conversation_id, message: 'And now?' })
    const shown = sent().map(({ system }) => system.includes(line))
    assert.deepEqual(shown, [false, false, true])
  })
})
