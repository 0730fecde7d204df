import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { openDatabase } from '../../src/store/open.ts'
import { type Answer, raw, refuse, reset, silence } from '../agent/fake-provider.ts'
import { buildTestApp, get, publish, type TestApp } from '../build-app.ts'
import { conceptEndpoint } from '../concept-endpoint.ts'
import { namesOf, remove } from '../requests.ts'
import { until } from '../run-service.ts'
import { storeMany } from '../store/store-many.ts'
import { tempFolder } from '../temp-folder.ts'

const described = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`

async function find(app: TestApp, q: string): Promise<string> {
  const response = await get(app, `/skills?q=${encodeURIComponent(q)}`)
  assert.equal(response.statusCode, 200, response.body)
  return namesOf(response).join()
}

interface Line {
  level: number
  msg: string
  reason?: string
  skill?: string
}

async function open(t: TestContext, env: Record<string, string> = {}) {
  const endpoint = await conceptEndpoint(t)
  const written: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void written.push(line) })
  const app = await buildTestApp(t, { env: { ...endpoint.env, ...env }, log })
  const lines = () => written.map((line) => JSON.parse(line) as Line)
  return {
    app,
    endpoint,
    written,
    said: (text: string) => lines().filter(({ msg }) => msg.includes(text)),
  }
}

const withVectors = (data: unknown): Answer => raw('application/json', JSON.stringify({ data }))
const vector = (embedding: unknown) => ({ index: 0, embedding })

const endless: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '.repeat(65_536)), 1)
  response.on('close', () => clearInterval(timer))
}
const half: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[')
}

suite('an embeddings endpoint that fails', { concurrency: 4 }, () => {
  const failures: [string, Answer][] = [
    ['answers 500', refuse(500)],
    ['answers 401', refuse(401)],
    ['answers 429', refuse(429)],
    ['refuses every text', refuse(400)],
    ['never answers', silence],
    ['stops within its answer', half],
    ['never stops', endless],
    ['cuts the connection', reset],
    [
      'leads elsewhere',
      (response) => response.writeHead(307, { location: '/v1/embeddings' }).end(),
    ],
    ['answers no JSON', raw('text/html', '<p>CANARY</p>')],
    ['answers another shape', raw('application/json', '{"embeddings":[[1,2]]}')],
    ['gives no vector', withVectors([])],
    ['gives an empty vector', withVectors([vector([])])],
    ['gives words for numbers', withVectors([vector(['1', null, {}, 2])])],
    ['gives bytes that are no floats', withVectors([vector('AAAA')])],
    [
      'gives infinite numbers',
      raw('application/json', '{"data":[{"index":0,"embedding":[1e999]}]}'),
    ],
    ['gives more vectors than texts', withVectors([vector([1]), vector([1])])],
  ]
  for (const [what, answer] of failures) {
    test(`and ${what} keeps nobody from writing and finding`, async (t) => {
      const { app, endpoint, said, written } = await open(t)
      await publish(app, described('first', 'Steeps tea.'))
      await until(async () => (await find(app, 'brewing')) === 'first')
      endpoint.answers(answer)
      const asked = endpoint.asked.length
      assert.equal((await publish(app, described('second', 'Pours tea.'))).statusCode, 201)
      assert.equal(await find(app, 'pours'), 'second')
      assert.ok(endpoint.asked.length > asked)
      assert.equal(await find(app, 'thirst'), '')
      await until(() => said('embeddings fail').length > 0 || said('refuses this skill').length > 0)
      assert.doesNotMatch(written.join(''), /CANARY/)

      // An index that waits for a batch waits long, and searches with it.
      if (answer === silence || answer === half) return
      endpoint.answers(undefined)
      await publish(app, described('third', 'Plans a viaduct.'))
      await until(async () => (await find(app, 'bridges')) === 'third')
    })
  }

  test('is told of once, and once more when it works again', async (t) => {
    const { app, endpoint, said } = await open(t)
    endpoint.answers(refuse(503))
    for (const name of ['one', 'two']) await publish(app, described(name, 'Steeps tea.'))
    await until(() => endpoint.asked.length >= 3)
    assert.deepEqual(
      said('embeddings fail').map(({ level, reason }) => [level, reason]),
      [[40, 'it answered 503']],
    )
    endpoint.answers(undefined)
    await until(async () => (await find(app, 'beverage')) === 'one,two')
    assert.equal(said('embeddings fail').length, 1)
    assert.equal(said('embeddings work again').length, 1)
  })

  test('is not there at all: that is told, and words find', async (t) => {
    const secret = 'sk-4711-secret'
    const { app, said, written } = await open(t, {
      EMBEDDINGS_URL: 'http://127.0.0.1:1/v1',
      EMBEDDINGS_API_KEY: secret,
    })
    await publish(app, described('one', 'Steeps tea.'))
    await until(() => said('embeddings fail')[0]?.reason)
    assert.equal(await find(app, 'tea'), 'one')
    assert.ok(!written.join('').includes(secret))
  })

  test('for one text has no other wait', async (t) => {
    const { app, endpoint, said } = await open(t)
    endpoint.refuses((input) => input.some((text) => text.includes('poison')))
    await publish(app, described('a-poison', 'Is a poison for tea.'))
    for (const name of ['b', 'c', 'd']) await publish(app, described(name, 'Steeps tea.'))
    await until(async () => (await find(app, 'beverage')) === 'b,c,d')
    await until(() => said('refuses this skill').length > 0)
    assert.deepEqual(
      said('refuses this skill').map(({ skill }) => skill),
      ['a-poison'],
    )
    assert.equal(await find(app, 'poison'), 'a-poison')
  })
})

suite('the index of embeddings', { concurrency: 2 }, () => {
  test('asks with the key and for the model that are set', async (t) => {
    const { app, endpoint } = await open(t, {
      EMBEDDINGS_API_KEY: 'sk-4711',
      EMBEDDINGS_MODEL: 'other-model',
    })
    await publish(app, described('one', 'Steeps tea.'))
    await endpoint.wasAsked('Steeps tea.')
    assert.equal(endpoint.asked[0]?.headers.authorization, 'Bearer sk-4711')
    assert.equal(endpoint.asked[0]?.model, 'other-model')
  })

  for (const EMBEDDINGS_URL of ['http://[/v1', 'http://key@host/v1', 'ftp://host/v1']) {
    test(`does not start with ${EMBEDDINGS_URL}`, async (t) => {
      await assert.rejects(buildTestApp(t, { env: { EMBEDDINGS_URL } }), /^Error: EMBEDDINGS_URL /)
    })
  }

  test('asks for nothing again that is stored, and forgets what no skill needs', async (t) => {
    const endpoint = await conceptEndpoint(t)
    const DATABASE_URL = `sqlite:${join(await tempFolder(t), 'skills.db')}`
    const env = { ...endpoint.env, DATABASE_URL }
    const app = await buildTestApp(t, { env })
    for (const name of ['kept', 'gone']) await publish(app, described(name, 'Steeps tea.'))
    await until(async () => (await find(app, 'beverage')) === 'gone,kept')
    await remove(app, 'gone')
    const db = await openDatabase(DATABASE_URL)
    t.after(() => db.destroy())
    await until(async () => {
      const rows = await db.selectFrom('embeddings').select('model').execute()
      return rows.length === 1
    })
    await app.close()
    const asked = endpoint.texts()

    const again = await buildTestApp(t, { env })
    await until(async () => (await find(again, 'thirst')) === 'kept')
    const more = endpoint.texts().slice(asked.length)
    assert.deepEqual(new Set(more), new Set(['thirst']))
  })

  test('takes in many, by the batch, and keeps turning meanwhile', async (t) => {
    const endpoint = await conceptEndpoint(t)
    const DATABASE_URL = `sqlite:${join(await tempFolder(t), 'skills.db')}`
    const db = await openDatabase(DATABASE_URL)
    const made = Array.from({ length: 1000 }, (_, at) => ({
      name: `made-${at}`,
      description: at === 700 ? 'Plans a viaduct.' : 'Writes an invoice.',
      body: 'Do it.',
    }))
    await storeMany(db, made)
    await db.destroy()
    const app = await buildTestApp(t, { env: { ...endpoint.env, DATABASE_URL } })
    assert.equal(await find(app, 'viaduct'), 'made-700')
    await until(async () => (await find(app, 'bridges')) === 'made-700')
    await until(() => endpoint.texts().filter((text) => text.startsWith('made ')).length === 1000)
    const batches = endpoint.asked.map(({ input }) => input.length)
    assert.equal(Math.max(...batches), 64)
    assert.equal((await find(app, 'payments')).split(',').length, 20)
  })

  test('ends with the service, whatever is still under way', async (t) => {
    const { app, endpoint } = await open(t)
    endpoint.answers(silence)
    await publish(app, described('one', 'Steeps tea.'))
    await endpoint.wasAsked('Steeps tea.')
    await app.close()
  })
})
