import assert from 'node:assert/strict'
import { test } from 'node:test'
import { talk, tool } from '../agent/talk.ts'
import { buildTestApp, get, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { assertProblem, remove, send } from '../requests.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { waysOf } from '../upload.ts'

const NOTHING = { loads: 0, repeats: 0, denials: 0, reads: 0, tokens: 0, last_used_at: null }
const COUNTS = ['loads', 'repeats', 'denials', 'reads'] as const

const statsOf = async (app: TestApp, name: string) =>
  (await get(app, `/skills/${name}/stats`)).json()
const countsOf = (stats: Record<string, number>) => COUNTS.map((count) => stats[count])
const bodyTokens = async (app: TestApp, name: string): Promise<number> =>
  (await get(app, `/skills/${name}`)).json().tokens.body
const readFile = (skill: string, path: string) => call('read_skill_file', { skill, path })

const NOTES = 'Tables are read with the script. '.repeat(20)
const pdf = (body: string) => ({
  'SKILL.md': skillMd('pdf', body, 'allowed-tools: get_page\n'),
  'notes.md': NOTES,
  'logo.bin': Buffer.from([0, 255, 254, 1]),
})

async function upload(app: TestApp, body: string): Promise<void> {
  const sent = await send(app, 'POST', '/skills', waysOf(pdf(body)).zip)
  assert.equal(sent.statusCode, 201, sent.body)
}

test('a service that nobody has used yet saves nothing', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet'))
  assert.deepEqual(await statsOf(app, 'greet'), { name: 'greet', ...NOTHING, versions: [] })
  const none = { inlined: 0, catalog: 0, bodies: 0, saved: 0 }
  assert.deepEqual((await get(app, '/stats')).json(), {
    ...NOTHING,
    conversations: 0,
    turns: 0,
    model_calls: 0,
    savings: { sent: none, fresh: none, billed: none },
  })
})

test('loads, repeats, denials and reads of files are counted, and what failed is not', async (t) => {
  const script = [
    atOnce(load('pdf'), load('pdf'), load('nothing'), readFile('pdf', 'notes.md')),
    atOnce(load('pdf'), call('get_weather'), readFile('pdf', 'none.md')),
    atOnce(readFile('pdf', 'logo.bin'), readFile('nothing', 'notes.md')),
    say('Done.'),
  ]
  const { app, ask } = await talk(t, script)
  await upload(app, 'Read the notes.')
  const turn = await ask({ message: 'Read it', tools: [tool('get_weather')] })
  assert.equal(turn.status, 'completed')

  const stats = await statsOf(app, 'pdf')
  assert.deepEqual(countsOf(stats), [1, 2, 1, 1])
  const loaded = turn.receipt.loaded.reduce(
    (sum: number, { tokens }: { tokens: number }) => sum + tokens,
    0,
  )
  assert.ok(stats.tokens > loaded + NOTES.length / 10, 'the file has a cost as well')
  assert.ok(stats.tokens < loaded + NOTES.length, 'and it is in tokens')
  assert.deepEqual(
    stats.versions.map(({ version, ...counts }: Record<string, number>) => [
      version,
      ...countsOf(counts),
    ]),
    [
      [1, 1, 2, 0, 1],
      [null, 0, 0, 1, 0],
    ],
  )
  assert.match(stats.last_used_at, /^\d{4}-.*Z$/)
  const { loads, repeats, denials, reads, tokens } = (await get(app, '/stats')).json()
  assert.deepEqual(
    { loads, repeats, denials, reads, tokens },
    {
      loads: 1,
      repeats: 2,
      denials: 1,
      reads: 1,
      tokens: stats.tokens,
    },
  )
})

test('a file is counted for the version it is read of, which is the loaded one', async (t) => {
  const read = readFile('pdf', 'notes.md')
  const script = [read, load('pdf'), say('One.'), read, say('Two.'), load('pdf'), read, say('3.')]
  const { app, ask } = await talk(t, script)
  await upload(app, 'Read the notes.')
  const { conversation_id } = await ask({ message: 'One' })
  const { zip } = waysOf(pdf('Read the notes twice.'))
  assert.equal((await send(app, 'PUT', '/skills/pdf', zip)).statusCode, 200)
  await ask({ conversation_id, message: 'Two' })
  await ask({ conversation_id, message: 'Three' })
  const { versions } = await statsOf(app, 'pdf')
  assert.deepEqual(
    versions.map(({ version, loads, reads }: Record<string, number>) => [version, loads, reads]),
    [
      [2, 1, 1],
      [1, 1, 2],
    ],
  )
})

test('a preload is a load, and a repeat in a conversation that has the body', async (t) => {
  const { app, ask } = await talk(t, [say('One.'), say('Two.')])
  await publish(app, skillMd('greet'))
  const skills = { preload: ['greet'] }
  const { conversation_id } = await ask({ message: 'One', skills })
  assert.deepEqual(countsOf(await statsOf(app, 'greet')), [1, 0, 0, 0])
  await ask({ conversation_id, message: 'Two', skills })
  assert.deepEqual(countsOf(await statsOf(app, 'greet')), [1, 1, 0, 0])
})

test('the savings are those of the arithmetic, with a skill that is written in between', async (t) => {
  const { app, ask } = await talk(t, [load('greet'), say('Hello.'), say('Again.')])
  const catalogTokens = async () => Number((await get(app, '/catalog')).headers['x-catalog-tokens'])
  await publish(app, skillMd('greet', 'Say hello to all of them. '.repeat(50)))
  await publish(app, skillMd('part', 'Say goodbye to all of them. '.repeat(80)))
  const [greet, part, first] = [
    await bodyTokens(app, 'greet'),
    await bodyTokens(app, 'part'),
    await catalogTokens(),
  ]
  const { conversation_id } = await ask({ message: 'Hello' })
  await publish(app, skillMd('wave', 'Wave at all of them. '.repeat(20)))
  const [wave, second] = [await bodyTokens(app, 'wave'), await catalogTokens()]
  await ask({ conversation_id, message: 'Hello again' })

  // Three calls: two with two skills on offer, of which the second had the body, and a third
  // with three skills and the body.
  const { savings, ...counts } = (await get(app, '/stats')).json()
  assert.deepEqual([counts.conversations, counts.turns, counts.model_calls], [1, 2, 3])
  const sent = {
    inlined: 2 * (greet + part) + (greet + part + wave),
    catalog: 2 * first + second,
    bodies: 2 * greet,
  }
  const fresh = {
    inlined: greet + part + (greet + part + wave),
    catalog: first + second,
    bodies: greet,
  }
  const billed = {
    inlined: Math.round(fresh.inlined + 0.1 * (greet + part)),
    catalog: Math.round(fresh.catalog + 0.1 * first),
    bodies: Math.round(fresh.bodies + 0.1 * greet),
  }
  const saved = ({ inlined, catalog, bodies }: typeof sent) =>
    Math.round((1 - (catalog + bodies) / inlined) * 1000) / 1000
  assert.deepEqual(savings, {
    sent: { ...sent, saved: saved(sent) },
    fresh: { ...fresh, saved: saved(fresh) },
    billed: { ...billed, saved: saved(billed) },
  })
  assert.ok(savings.sent.saved > 0.4 && savings.sent.saved < 1, String(savings.sent.saved))
})

test('what was used stays counted when its conversation is gone, without its tokens', async (t) => {
  const { app, ask } = await talk(t, [load('greet'), say('Hello.')])
  await publish(app, skillMd('greet', 'Say hello. '.repeat(50)))
  const { conversation_id } = await ask({ message: 'Hello' })
  const gone = await send(app, 'DELETE', `/conversations/${conversation_id}`)
  assert.equal(gone.statusCode, 204)
  const { loads, conversations, turns, model_calls, savings } = (await get(app, '/stats')).json()
  assert.deepEqual([loads, conversations, turns, model_calls], [1, 0, 0, 0])
  const none = { inlined: 0, catalog: 0, bodies: 0, saved: 0 }
  assert.deepEqual(savings, { sent: none, fresh: none, billed: none })
  assert.equal((await statsOf(app, 'greet')).loads, 1)
})

test('a skill that is not there has no statistics, though it was used', async (t) => {
  const { app, ask } = await talk(t, [load('greet'), say('Hello.')])
  await publish(app, skillMd('greet'))
  const unknown = assertProblem(await get(app, '/skills/gret/stats'), 404, 'skill_not_found')
  assert.deepEqual(unknown.suggestions, ['greet'])
  for (const name of ['constructor', '..%2fx', 'A', '%00']) {
    assertProblem(await get(app, `/skills/${name}/stats`), 404, 'skill_not_found')
  }
  await ask({ message: 'Hello' })
  assert.equal((await put(app, 'greet', skillMd('greet', 'Wave.'))).statusCode, 200)
  assert.equal((await remove(app, 'greet')).statusCode, 204)
  assertProblem(await get(app, '/skills/greet/stats'), 404, 'skill_not_found')
  assert.equal((await get(app, '/stats')).json().loads, 1)
})

test('statistics are read with the scope skills:read', async (t) => {
  const { app, keys } = await withKeys(t, { read: ['skills:read'], chat: ['chat'] })
  for (const path of ['/stats', '/skills/x/stats']) {
    assertProblem(await get(app, path), 401, 'unauthenticated')
    assertProblem(await get(app, path, keys.chat), 403, 'insufficient_scope')
  }
  assert.equal((await get(app, '/stats', keys.read)).statusCode, 200)
})
