import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { get, publish, put, skillMd } from '../build-app.ts'
import { atOnce, load, say } from '../scripted-model.ts'
import { meanwhile, occurrences, patch, remove, talk, tool } from './talk.ts'

const BODY = 'BODY-4711 Say hello.'
const greet = skillMd('greet', BODY)
const hidden = skillMd('hidden', BODY, 'disable-model-invocation: true\n')
const done = say('Done.')
const lineOf = (name: string) =>
  `- ${name}: Says hello to whoever comes in. Use when somebody greets.`

suite('the catalog that a model call is made with', { concurrency: 2 }, () => {
  test('the prompt is the instructions, one paragraph, the catalog, and nothing behind it', async (t) => {
    const { ask, sent } = await talk(t, [done], { skills: [greet, skillMd('adieu')] })
    const { receipt } = await ask({ message: 'Hi', instructions: 'Be brief.' })
    const system = sent()[0]?.system ?? ''
    assert.match(system, /^Be brief\.\n\n# Skills\n/)
    assert.ok(system.endsWith(`\n\n${lineOf('adieu')}\n${lineOf('greet')}`))
    assert.deepEqual(sent()[0]?.tools, ['load_skill', 'read_skill_file'])
    const { revision, tokens, ...offer } = receipt.catalog
    assert.deepEqual(offer, { offered: 2, shortened: 0, omitted: 0 })
    assert.ok(revision > 0 && tokens > 0)
    assert.ok(receipt.tokens.all_inlined > 0)
  })

  test('a skill written between two steps is in the next call, and can be loaded', async (t) => {
    const write = meanwhile(() => publish(app, skillMd('late', BODY)), load('greet'))
    const { app, ask, sent } = await talk(t, [write, load('late'), done], { skills: [greet] })
    const { receipt } = await ask({ message: 'Hi' })
    const shown = sent().map(({ system }) => system.includes(lineOf('late')))
    assert.deepEqual(shown, [false, true, true])
    assert.equal(receipt.loaded.at(-1).name, 'late')
    assert.equal(receipt.catalog.offered, 2)
  })

  for (const [what, go] of [
    ['deleted', remove],
    [
      'disabled',
      (app: Parameters<typeof patch>[0], name: string) => patch(app, name, { enabled: false }),
    ],
  ] as const) {
    test(`a skill ${what} between two steps is gone from the next call, and cannot be loaded`, async (t) => {
      const write = meanwhile(() => go(app, 'other'), load('greet'))
      const skills = [greet, skillMd('other')]
      const { app, ask, sent } = await talk(t, [write, load('other'), done], { skills })
      const { receipt } = await ask({ message: 'Hi' })
      const shown = sent().map(({ system }) => system.includes(lineOf('other')))
      assert.deepEqual(shown, [true, false, false])
      assert.equal(receipt.loaded.length, 1)
      assert.match(sent()[2]?.results[1]?.text ?? '', /no skill named "other"/)
    })
  }

  test('a skill deleted while the model asks for it is an error result', async (t) => {
    const write = meanwhile(() => remove(app, 'other'), atOnce(load('other'), load('greet')))
    const { app, ask, sent } = await talk(t, [write, done], { skills: [greet, skillMd('other')] })
    assert.equal((await ask({ message: 'Hi' })).receipt.loaded.length, 1)
    assert.deepEqual(
      sent()[1]?.results.map(({ isError }) => isError),
      [true, false],
    )
  })

  test('when the last skill goes, load_skill and the paragraph go with it', async (t) => {
    const write = meanwhile(() => remove(app, 'greet'), load('greet'))
    const { app, ask, sent } = await talk(t, [write, done], { skills: [greet] })
    await ask({ message: 'Hi', instructions: 'Be brief.', tools: [tool('mine')] })
    assert.equal(sent()[1]?.system, 'Be brief.')
    assert.deepEqual(sent()[1]?.tools, ['mine'])
  })

  test('a skill edited between two loads is sent again in its new version', async (t) => {
    const write = meanwhile(() => put(app, 'greet', skillMd('greet', 'NEW-4712')), load('greet'))
    const { app, ask, sent } = await talk(t, [load('greet'), write, load('greet'), done], {
      skills: [greet],
    })
    const { receipt } = await ask({ message: 'Hi' })
    const loaded = receipt.loaded.map((one: { version: number; repeat: boolean }) => [
      one.version,
      one.repeat,
    ])
    assert.deepEqual(loaded, [
      [1, false],
      [2, false],
      [2, true],
    ])
    assert.match(sent()[2]?.results[1]?.text ?? '', /NEW-4712[\s\S]*replaces version 1/)
  })

  test('while the revision stands, the prompts of two turns have the same bytes', async (t) => {
    const { ask, requests } = await talk(t, [load('greet'), done, done], { skills: [greet] })
    const first = await ask({ message: 'Hi' })
    const next = await ask({ conversation_id: first.conversation_id, message: 'And?' })
    const prompts = requests.map(({ body: { system, tools } }) => JSON.stringify([system, tools]))
    assert.equal(new Set(prompts).size, 1)
    assert.deepEqual(next.receipt.catalog, first.receipt.catalog)
    assert.deepEqual(next.receipt.loaded, [])
  })

  test('names and tags narrow what is on offer, and what can be loaded', async (t) => {
    const skills = [
      greet,
      skillMd('one', BODY, 'tags: [Quality, x]\n'),
      skillMd('two', BODY, 'tags: x\n'),
    ]
    const { ask, sent } = await talk(t, [load('one'), done, done, done, done], { skills })
    const { conversation_id, receipt } = await ask({
      message: 'Hi',
      skills: { names: ['two', 'greet'] },
    })
    assert.equal(receipt.catalog.offered, 2)
    assert.deepEqual(receipt.loaded, [])
    assert.match(sent()[1]?.results[0]?.text ?? '', /no skill named "one"/)

    for (const [filter, offered] of [
      [{ tags: ['quality'] }, ['one']],
      [{ names: ['two'], tags: ['x'] }, ['two']],
    ] as const) {
      await ask({ conversation_id, message: 'Hi', skills: filter })
      const system = sent().at(-1)?.system ?? ''
      const shown = ['greet', 'one', 'two'].filter((name) => system.includes(lineOf(name)))
      assert.deepEqual(shown, offered)
    }
    await ask({ conversation_id, message: 'Hi', skills: { names: [] } })
    assert.deepEqual(sent().at(-1)?.tools, [])
  })

  test('a catalog over its budget says what it shortened', async (t) => {
    const skills = Array.from({ length: 5 }, (_, at) => skillMd(`skill-${at}`))
    const { ask, sent } = await talk(t, [done], { skills, env: { CATALOG_MAX_TOKENS: '60' } })
    const { receipt } = await ask({ message: 'Hi' })
    assert.ok(receipt.catalog.tokens <= 60)
    assert.equal(receipt.catalog.shortened, 5)
    assert.match(sent()[0]?.system ?? '', /- skill-4/)
  })
})

suite('a skill that models may not call', { concurrency: 2 }, () => {
  test('is in no catalog and cannot be loaded', async (t) => {
    const { app, ask, sent } = await talk(t, [load('hidden'), done], { skills: [greet, hidden] })
    const { receipt } = await ask({ message: 'Hi' })
    assert.ok(!sent()[0]?.system.includes('hidden'))
    assert.match(sent()[1]?.results[0]?.text ?? '', /no skill named "hidden"/)
    assert.deepEqual(receipt.loaded, [])
    assert.ok(!(await get(app, '/catalog')).body.includes('hidden'))
  })

  test('can be preloaded: its body stands in the first user message, and counts as a load', async (t) => {
    const { ask, sent } = await talk(t, [done], { skills: [hidden] })
    const { receipt } = await ask({ message: 'Hi', skills: { preload: ['hidden', 'hidden'] } })
    const [{ digest, tokens, ...loaded }, ...others] = receipt.loaded
    assert.deepEqual(loaded, { name: 'hidden', version: 1, step: 0, repeat: false })
    assert.deepEqual(others, [])
    const [first] = sent()
    assert.deepEqual(first?.messages.length, 1)
    assert.match(first?.messages[0]?.content[0]?.text ?? '', /^<skill name="hidden"/)
    assert.equal(first?.messages[0]?.content.at(-1)?.text, 'Hi')
    assert.equal(receipt.tokens.skills, tokens)
    assert.ok(!first?.system.includes(BODY))
  })
})

suite('a preload', { concurrency: 2 }, () => {
  test('narrows the tools, and answers a later load by one short line', async (t) => {
    const listed = skillMd('listed', BODY, 'allowed-tools: mine\n')
    const { ask, sent } = await talk(t, [load('listed'), done], { skills: [listed] })
    const tools = [tool('mine'), tool('other')]
    const { receipt } = await ask({ message: 'Hi', tools, skills: { preload: ['listed'] } })
    assert.deepEqual(sent()[0]?.tools, ['mine', 'load_skill', 'read_skill_file'])
    assert.equal(receipt.loaded[1].repeat, true)
  })

  test('of what the conversation holds already sends no second body', async (t) => {
    const { ask, sent } = await talk(t, [done, done], { skills: [greet] })
    const skills = { preload: ['greet'] }
    const { conversation_id } = await ask({ message: 'Hi', skills })
    const { receipt } = await ask({ conversation_id, message: 'Hi', skills })
    assert.equal(receipt.loaded[0].repeat, true)
    const last = sent().at(-1)
    assert.equal(last && occurrences(last, BODY), 1)
  })

  test('says nothing of what is on offer', async (t) => {
    const { ask } = await talk(t, [done, done], { skills: [greet, skillMd('other')] })
    const { conversation_id } = await ask({ message: 'Hi', skills: { names: ['other'] } })
    const { receipt } = await ask({
      conversation_id,
      message: 'Hi',
      skills: { preload: ['greet'] },
    })
    assert.equal(receipt.catalog.offered, 1)
  })

  test('of a hidden skill opens the files that its body names', async (t) => {
    const read = { name: 'read_skill_file', input: { skill: 'hidden', path: 'a.md' } }
    const { app, ask, sent } = await talk(t, [{ calls: [read] }, done], { skills: [greet] })
    const payload = { content: hidden, files: [{ path: 'a.md', content: 'FILE-4711' }] }
    await app.inject({ method: 'POST', url: '/api/v1/skills', payload })
    await ask({ message: 'Hi', skills: { preload: ['hidden'] } })
    assert.equal(sent()[1]?.results[0]?.text, 'FILE-4711')
  })
})
