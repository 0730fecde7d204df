import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { estimateTokens } from '../../src/domain/tokens.ts'
import { type Answer, refuse } from '../agent/fake-provider.ts'
import { occurrences, talk, temporaryFolder } from '../agent/talk.ts'
import { toolShop } from '../agent/tool-shop.ts'
import { buildTestApp, chat, get, skillMd, type TestApp } from '../build-app.ts'
import { assertProblem } from '../requests.ts'
import { call, load, type Said, type Sent, say, toAnswer } from '../scripted-model.ts'

const BODY = 'BODY-4711 Say hello, and mean it.'
const LIMIT = 4000
const SUMMARY = 'They look numbers up.'
const longAnswer = (url: string) => `${url}: ${'lorem ipsum dolor sit amet '.repeat(60)}the end`

/** What was said last: the words of the user, unless results follow. */
function lastWords({ messages }: Sent): string | undefined {
  const last = messages.at(-1)?.content ?? []
  return last.some(({ type }) => type === 'tool_result') ? undefined : last.at(-1)?.text
}

/** Whether the user says just that. */
const userSays = ({ messages }: Sent, words: string | undefined): boolean =>
  messages.some(
    ({ role, content }) => role === 'user' && content.some(({ text }) => text === words),
  )

/** A model that looks up the number it is asked for, and summarises when it has no tools. */
function answerTo(sent: Sent): Said {
  if (sent.tools.length === 0) return say(SUMMARY)
  const said = lastWords(sent)
  if (said === undefined) return say('There you are.')
  if (said.includes('greet')) return load('greet')
  return call('look', { id: said })
}

/** The limit is of what the model is shown, in our own count. */
const tokensOf = ({ system, messages }: Sent, tools: unknown): number => {
  const parts = messages.flatMap(({ content }) => content)
  const texts = parts.map((part) => JSON.stringify(part.text ?? part.content ?? ''))
  const counts = [system, JSON.stringify(tools ?? []), ...texts].map(estimateTokens)
  return counts.reduce((sum, count) => sum + count, 0)
}

async function longTalk(t: TestContext, more: Record<string, string> = {}) {
  const shop = await toolShop(t, { answer: longAnswer })
  const clever: Answer = (response) => {
    const [last] = talking.sent().slice(-1)
    if (last) toAnswer(answerTo(last))(response)
  }
  const talking = await talk(
    t,
    Array.from({ length: 1000 }, () => clever),
    {
      env: { CONTEXT_MAX_TOKENS: String(LIMIT), ...shop.env, ...more },
      skills: [skillMd('greet', BODY)],
    },
  )
  await shop.add(talking.app, 'look', { method: 'GET' })
  const say = async (app: TestApp, body: object) => {
    const response = await chat(app, body)
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }
  return { ...talking, say }
}

suite('a conversation that grows beyond the limit', () => {
  test('over 200 turns never passes it, keeps its skill and its request, and loses nothing', async (t) => {
    const file = { DATABASE_URL: `sqlite:${await temporaryFolder(t)}/skills.db` }
    const { app, env, say, sent, requests } = await longTalk(t, file)
    const { conversation_id } = await say(app, { message: 'Please greet me.' })
    let service = app
    const asked = requests.map(() => 'Please greet me.')
    for (let number = 1; number <= 200; number++) {
      if (number === 100) {
        await service.close()
        service = await buildTestApp(t, { env })
      }
      const turn = await say(service, { conversation_id, message: `${number}` })
      assert.deepEqual([turn.status, turn.output], ['completed', 'There you are.'])
      while (asked.length < requests.length) asked.push(`${number}`)
    }
    const all = sent()
    all.forEach((one, index) => {
      const tools = requests[index]?.body.tools
      assert.ok(tokensOf(one, tools) <= LIMIT, `request ${index}: ${tokensOf(one, tools)} tokens`)
      if (one.tools.length > 0) assert.ok(userSays(one, asked[index]), `request ${index}`)
    })
    const last = all.at(-1)
    assert.ok(last)
    assert.equal(occurrences(last, BODY), 1, 'the body of the skill is still there')
    assert.ok(
      all.some(({ tools }) => tools.length === 0),
      'a summary was asked for',
    )
    assert.equal(occurrences(last, SUMMARY), 1)
    assert.match(last.results.at(-1)?.text ?? '', /^\/look\/200: .*the end$/)

    const { messages, loaded_skills, usage } = (
      await get(service, `/conversations/${conversation_id}`)
    ).json()
    assert.deepEqual(
      loaded_skills.map(({ name }: { name: string }) => name),
      ['greet'],
    )
    assert.equal(usage.model_calls, requests.length)
    const calls = messages.flatMap(
      ({ content }: { content: { type: string; call_id: string }[] }) =>
        content.filter(({ type }) => type === 'tool_call').map(({ call_id }) => call_id),
    )
    assert.equal(new Set(calls).size, 201)
    const first = await get(service, `/conversations/${conversation_id}/tool-results/${calls[1]}`)
    assert.equal(first.json().output, longAnswer('/look/1'))
  })

  test('keeps the bytes of what it was sent before, until it is compacted again', async (t) => {
    const { app, say, requests } = await longTalk(t)
    const { conversation_id } = await say(app, { message: '0' })
    for (let number = 1; number < 30; number++) {
      await say(app, { conversation_id, message: `${number}` })
    }
    const shown = requests.map(({ body }) => withoutMarks(body.messages).slice(0, -1))
    const kept = shown.filter((text, index) => shown[index + 1]?.startsWith(text))
    assert.ok(kept.length > shown.length / 2, `${kept.length} of ${shown.length}`)
    assert.ok(kept.length < shown.length - 1, 'it was compacted')
  })

  test('is compacted once more when the provider finds it too long, and fails the second time', async (t) => {
    const tooLong = refuse(400, {}, 'prompt is too long: 9 tokens > 8 maximum')
    const script: (Said | Answer)[] = [call('look', { id: '1' }), call('look', { id: '2' })]
    const again = [...script, call('look', { id: '3' }), call('look', { id: '4' })]
    const turns = [...again, tooLong, say('Short.'), tooLong, tooLong, say('On.')]
    const shop = await toolShop(t, { answer: longAnswer })
    const { app, ask, sent } = await talk(t, turns, { env: shop.env })
    await shop.add(app, 'look', { method: 'GET' })
    const turn = await ask({ message: 'Look.' })
    assert.deepEqual([turn.status, turn.output, turn.steps], ['completed', 'Short.', 5])
    const [before, after] = sent().slice(4, 6)
    assert.ok(before && after)
    assert.ok(JSON.stringify(after).length < JSON.stringify(before).length)
    const { conversation_id } = turn
    assertProblem(await chat(app, { conversation_id, message: 'More.' }), 502, 'model_error')
    assert.equal((await ask({ conversation_id, message: 'More.' })).output, 'On.')
  })

  test('says that a skill is sent again, once there was no room for its body', async (t) => {
    const env = { CONTEXT_MAX_TOKENS: '4000' }
    const skills = ['one', 'two'].map((name) => skillMd(name, 'lorem ipsum dolor '.repeat(600)))
    const script = [load('one'), load('two'), load('one'), say('Done.')]
    const { ask, sent } = await talk(t, script, { env, skills })
    const turn = await ask({ message: 'Do both.' })
    assert.equal(turn.status, 'completed')
    const repeats = turn.receipt.loaded.map(({ repeat }: { repeat: boolean }) => repeat)
    assert.deepEqual(repeats, [false, false, false])
    const last = sent().at(-1)?.results.at(-1)?.text ?? ''
    assert.match(last, /<skill name="one"/)
    assert.match(last, /has left the context since/)
  })

  test('ends with its budget when even the shortest is too long', async (t) => {
    const env = { CONTEXT_MAX_TOKENS: '1000' }
    const { ask, requests } = await talk(t, [say('Never.')], { env })
    const turn = await ask({ message: 'lorem ipsum '.repeat(3000) })
    assert.deepEqual([turn.status, turn.stop_reason], ['incomplete', 'budget'])
    assert.equal(requests.length, 0)
  })
})

/** Where the cached part ends is marked, and moves. */
const withoutMarks = (messages: unknown): string =>
  JSON.stringify(messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
