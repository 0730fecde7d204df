import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { meanwhile, talk, tool } from '../agent/talk.ts'
import { buildTestApp, chat, get, publish, skillMd } from '../build-app.ts'
import { call, load, say } from '../scripted-model.ts'

suite('what is kept of a turn', { concurrency: 2 }, () => {
  test('turns are listed oldest first, page by page, each as it was answered', async (t) => {
    const app = await buildTestApp(t)
    const first = (await chat(app, { message: 'Hi' })).json()
    const { conversation_id } = first
    const made = [first]
    for (let at = 0; at < 4; at++) {
      made.push((await chat(app, { conversation_id, message: 'Hi' })).json())
    }
    const seen: object[] = []
    for (let cursor = ''; ; ) {
      const path = `/conversations/${conversation_id}/turns?limit=2${cursor}`
      const page = (await get(app, path)).json()
      seen.push(...page.data)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    assert.deepEqual(seen, made)
    const foreign = `/conversations/${conversation_id}/turns?cursor=`
    const { next_cursor } = (await get(app, '/conversations?limit=1')).json()
    assert.equal(next_cursor, null)
    assert.equal((await get(app, `${foreign}x`)).json().code, 'cursor_invalid')
  })

  test('a turn has every skill that was on offer at its last model call', async (t) => {
    const write = meanwhile(() => publish(app, skillMd('late')), load('greet'))
    const { app, ask } = await talk(t, [write, say('Done.')], { skills: [skillMd('greet')] })
    const turn = await ask({ message: 'Hi' })
    const { offered, ...stored } = (
      await get(app, `/conversations/${turn.conversation_id}/turns/${turn.id}`)
    ).json()
    assert.deepEqual(stored, turn)
    const skills = await Promise.all(
      ['greet', 'late'].map(async (name) => (await get(app, `/skills/${name}`)).json()),
    )
    assert.deepEqual(
      offered,
      skills.map(({ name, version, digest }) => ({ name, version, digest, shown: 'full' })),
    )
  })

  test('the prompt is what was sent, byte for byte, at every step', async (t) => {
    const listed = skillMd('listed', 'Say "hello" & <bye>.', 'allowed-tools: mine\n')
    const write = meanwhile(() => publish(app, skillMd('late')), load('listed'))
    const { app, ask, requests } = await talk(t, [write, say('Done.')], { skills: [listed] })
    const schema = { $id: 'x', required: ['你'], additionalProperties: false }
    const tools = [tool('mine', { 你: { type: 'string' } }, schema), tool('other')]
    const turn = await ask({ message: 'Hi', instructions: 'Zeile\r\n\t"Ünï" 🦊 </system>', tools })
    const {
      turn_id,
      system,
      tools: first,
      steps,
    } = (await get(app, `/conversations/${turn.conversation_id}/turns/${turn.id}/prompt`)).json()
    const sent = requests.map(({ body }) => {
      const { system, tools } = body as {
        system: { text: string }[]
        tools: Record<string, unknown>[]
      }
      return {
        system: system.map(({ text }) => text).join(''),
        tools: tools.map(({ name, description, input_schema }) => ({
          name,
          description,
          input_schema,
        })),
      }
    })
    assert.equal(turn_id, turn.id)
    assert.equal(JSON.stringify({ system, tools: first }), JSON.stringify(sent[0]))
    assert.deepEqual(
      steps.map(({ step }: { step: number }) => step),
      [1, 2],
    )
    assert.ok(steps[0].revision < steps[1].revision)
    const shown = steps.map(({ system, tools }: { system: string; tools: object }) => ({
      system,
      tools,
    }))
    assert.equal(JSON.stringify(shown), JSON.stringify(sent))
  })

  test('a turn that met no model has an empty prompt', async (t) => {
    const { app } = await talk(t, [])
    const { conversation_id, turn_id } = (await chat(app, { message: 'Hi' })).json()
    const path = `/conversations/${conversation_id}/turns/${turn_id}`
    assert.deepEqual((await get(app, `${path}/prompt`)).json().steps, [])
    assert.deepEqual((await get(app, path)).json().offered, [])
  })

  test('the output of a call is read in parts, counted in characters', async (t) => {
    const { app, ask } = await talk(t, [call('mine', {}, 'call_1'), say('Done.')])
    const { conversation_id } = await ask({ message: 'Hi', tools: [tool('mine')] })
    const path = `/conversations/${conversation_id}/tool-results`
    const waiting = await get(app, `${path}/call_1`)
    assert.deepEqual([waiting.statusCode, waiting.json().code], [404, 'tool_result_not_found'])
    const output = '🦊你a'.repeat(30_000)
    await ask({ conversation_id, tool_results: [{ call_id: 'call_1', output, is_error: true }] })

    const whole = (await get(app, `${path}/call_1?limit=1000000`)).json()
    const about = { call_id: 'call_1', name: 'mine', is_error: true, offset: 0, total: 90_000 }
    assert.deepEqual(whole, { ...about, output })
    for (const [query, part] of [
      ['?offset=0&limit=4', '🦊你a🦊'],
      ['?offset=1&limit=2', '你a'],
      ['?offset=89999', 'a'],
      ['?offset=90000', ''],
      ['', output.slice(0, (output.length / 90_000) * 50_000)],
    ] as const) {
      const { output: got } = (await get(app, `${path}/call_1${query}`)).json()
      if (query === '') assert.equal([...got].length, 50_000)
      else assert.equal(got, part, query)
    }
    for (const query of ['?limit=0', '?limit=1000001', '?offset=-1', '?offset=1.5', '?from=1']) {
      const response = await get(app, `${path}/call_1${query}`)
      assert.deepEqual([response.statusCode, response.json().code], [400, 'query_invalid'])
    }
    assert.equal((await get(app, `${path}/__proto__`)).json().code, 'tool_result_not_found')
  })

  test('a loaded body is a result like any other', async (t) => {
    const { app, ask } = await talk(t, [load('greet'), say('Done.')], {
      skills: [skillMd('greet')],
    })
    const { conversation_id, messages } = await ask({ message: 'Hi' })
    const path = `/conversations/${conversation_id}/tool-results/${messages[0].content[0].call_id}`
    const response = await get(app, path)
    const wrapped = await get(app, '/skills/greet/content?format=wrapped')
    assert.equal(response.json().output, wrapped.body)
    assert.match(String(response.headers.etag), /^"/)
    const headers = { 'if-none-match': String(response.headers.etag) }
    assert.equal((await get(app, path, headers)).statusCode, 304)
  })
})
