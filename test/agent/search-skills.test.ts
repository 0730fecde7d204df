import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { openDatabase } from '../../src/store/open.ts'
import { publish, skillMd } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'
import { storeMany } from '../store/store-many.ts'
import { meanwhile, remove, talk, temporaryFolder } from './talk.ts'

const done = say('Done.')
const described = (name: string, description: string, more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nBODY of ${name}.\n`
const search = (query: string, limit?: number) =>
  call('search_skills', { query, ...(limit && { limit }) })

const WORK = ['Plans', 'Reviews', 'Counts', 'Sorts', 'Draws', 'Packs', 'Mends', 'Ships']
const THINGS = ['invoices', 'bridges', 'lectures', 'gardens', 'tickets', 'novels', 'engines']

/** A database with many skills, one of which is about zeppelins. */
async function openMany(t: TestContext, count: number): Promise<string> {
  const url = `sqlite:${join(await temporaryFolder(t), 'many.db')}`
  const db = await openDatabase(url)
  const made = Array.from({ length: count }, (_, at) => {
    const [work, thing] = [WORK[at % WORK.length], THINGS[at % THINGS.length]]
    const description = `${work} ${thing} of group ${at % 100} with care. Use when somebody asks for ${thing}.`
    return { name: `made-${at}`, description, body: `Number ${at}.` }
  })
  const description = 'Steers zeppelins through fog. Use when somebody flies an airship.'
  await storeMany(db, [...made, { name: 'zz-zeppelin', description, body: 'ZEPPELIN-4711' }])
  await db.destroy()
  return url
}

suite('search_skills', { concurrency: 2 }, () => {
  test('of ten thousand skills a first request shows some, and reaches the others', async (t) => {
    const url = await openMany(t, 10_000)
    const { ask, requests, sent } = await talk(
      t,
      [search('fly a zeppelin'), load('zz-zeppelin'), done],
      { env: { DATABASE_URL: url, CATALOG_MAX_TOKENS: '4000' } },
    )
    const { receipt } = await ask({ message: 'Which lectures are in group 17?' })
    const size = Buffer.byteLength(JSON.stringify(requests[0]?.body))
    assert.ok(size <= 24 * 1024, `${size} bytes`)
    const [first, second, third] = sent()
    assert.deepEqual(first?.tools, ['load_skill', 'read_skill_file', 'search_skills'])
    assert.match(first?.system ?? '', /\n- made-\d+: [A-Z][a-z]+ lectures of group 17 /)
    assert.match(first?.system ?? '', /\n\(\d+ more skills: use search_skills to find more\)$/)
    assert.doesNotMatch(first?.system ?? '', /zeppelin/)
    assert.match(second?.results[0]?.text ?? '', /^- zz-zeppelin: Steers zeppelins through fog\. /)
    assert.match(third?.results[1]?.text ?? '', /ZEPPELIN-4711/)
    const { offered, omitted, tokens } = receipt.catalog
    assert.ok(tokens <= 4000 && offered > 50, `${offered} for ${tokens}`)
    assert.equal(offered + omitted, 10_001)
    assert.equal(receipt.loaded[0].name, 'zz-zeppelin')
  })

  const crowd = Array.from({ length: 8 }, (_, at) =>
    described(`skill-${at}`, `Handles affair ${at}. ${'It takes its time with that. '.repeat(5)}`),
  )
  const zebra = described('zebra', 'Counts the stripes. Use when a zebra comes <near>.')
  const small = { CATALOG_MAX_TOKENS: '50' }

  test('is on offer only when the catalog is not shown whole', async (t) => {
    const { app, ask, sent } = await talk(t, [done, done], { skills: [zebra], env: small })
    const { conversation_id } = await ask({ message: 'Hi' })
    for (const content of crowd) await publish(app, content)
    await ask({ conversation_id, message: 'Hi' })
    assert.deepEqual(
      sent().map(({ tools }) => tools.includes('search_skills')),
      [false, true],
    )
  })

  test('finds only what this conversation is offered', async (t) => {
    const skills = [
      ...crowd,
      described('shown', 'About zebras.', 'tags: Animal\n'),
      described('other', 'About zebras.'),
      described('hidden', 'About zebras.', 'tags: animal\ndisable-model-invocation: true\n'),
      described('off', 'About zebras.', 'tags: animal\n'),
      ...crowd.map((text) =>
        text.replace('skill-', 'tagged-').replace('---\nB', 'tags: animal\n---\nB'),
      ),
    ]
    const { app, ask, sent } = await talk(
      t,
      [search('zebra'), search('zebra', 1), search('*'), done],
      {
        skills,
        env: small,
      },
    )
    const payload = { enabled: false }
    await app.inject({ method: 'PATCH', url: '/api/v1/skills/off', payload })
    await ask({ message: 'Hi', skills: { tags: ['animal'] } })
    assert.deepEqual(
      sent()
        .at(-1)
        ?.results.map(({ text, isError }) => [text, isError]),
      [
        ['- shown: About zebras.', false],
        ['- shown: About zebras.', false],
        ['No skill matches. Try other words.', false],
      ],
    )
  })

  test('shows lines as the catalog would, the best first and no more than asked for', async (t) => {
    const more = described('striped', 'A zebra has stripes, so has this.')
    const { ask, sent } = await talk(
      t,
      [search('zebra', 1), search('zebra'), call('search_skills', { query: 'x', limit: 0 }), done],
      {
        skills: [...crowd, zebra, more],
        env: small,
      },
    )
    await ask({ message: 'Hi' })
    const results = sent().at(-1)?.results ?? []
    const line = '- zebra: Counts the stripes. Use when a zebra comes &lt;near&gt;.'
    assert.equal(results[0]?.text, line)
    assert.equal(results[1]?.text, `${line}\n- striped: A zebra has stripes, so has this.`)
    assert.equal(results[2]?.isError, true)
  })

  test('knows a skill that was written a moment ago, and none that has gone', async (t) => {
    const write = meanwhile(() => publish(crowded.app, zebra), search('zebra'))
    const go = meanwhile(() => remove(crowded.app, 'zebra'), search('zebra'))
    const crowded = await talk(t, [write, search('zebra'), go, search('zebra'), done], {
      skills: crowd,
      env: small,
    })
    await crowded.ask({ message: 'Hi' })
    const found = crowded
      .sent()
      .at(-1)
      ?.results.map(({ text }) => text.startsWith('- zebra'))
    assert.deepEqual(found, [false, true, false, false])
  })

  test('no list of a skill takes it away, and no caller may take its name', async (t) => {
    const strict = described('strict', 'Allows little.', 'allowed-tools: mine\n')
    const { app, ask, sent } = await talk(t, [load('strict'), done], {
      skills: [...crowd, strict],
      env: small,
    })
    await ask({ message: 'Hi' })
    assert.ok(sent()[1]?.tools.includes('search_skills'))
    const tools = [{ name: 'search_skills', description: 'x', input_schema: { type: 'object' } }]
    const payload = { message: 'Hi', tools }
    const refused = await app.inject({ method: 'POST', url: '/api/v1/chat', payload })
    assert.equal(refused.json().code, 'tool_name_taken')
  })
})

suite('a catalog over its budget', { concurrency: 2 }, () => {
  const skills = [
    ...Array.from({ length: 60 }, (_, at) => skillMd(`skill-${at}`)),
    described('zebra', 'Counts the stripes of a zebra.'),
    described('yak', 'Combs the wool of a yak.'),
  ]
  const env = { CATALOG_MAX_TOKENS: '200' }
  const line = '\n- zebra: Counts the stripes of a zebra.\n'

  test('shows what matches the first message, in later turns too, with the same bytes', async (t) => {
    const { ask, requests, sent } = await talk(t, [load('zebra'), done, done], { skills, env })
    const { conversation_id } = await ask({ message: 'How many stripes has a zebra?' })
    await ask({ conversation_id, message: 'Now comb my yak.' })
    assert.ok(sent()[0]?.system.includes(line))
    assert.ok(!sent()[0]?.system.includes('- yak: '))
    const prompts = requests.map(({ body: { system, tools } }) => JSON.stringify([system, tools]))
    assert.equal(prompts.length, 3)
    assert.equal(new Set(prompts).size, 1)
  })

  test('is chosen by what was said, not by the body of a preload', async (t) => {
    const { ask, sent } = await talk(t, [done], { skills, env })
    await ask({ message: 'How many stripes has a zebra?', skills: { preload: ['yak'] } })
    assert.ok(sent()[0]?.system.includes(line))
    assert.ok(!sent()[0]?.system.includes('- yak: '))
  })

  test('is filled with names when nothing matches', async (t) => {
    const { ask, sent } = await talk(t, [done], { skills, env })
    const { receipt } = await ask({ message: '👋' })
    assert.match(sent()[0]?.system ?? '', /\n- skill-0\n- skill-1\n/)
    assert.equal(receipt.catalog.offered + receipt.catalog.omitted, 62)
  })
})
