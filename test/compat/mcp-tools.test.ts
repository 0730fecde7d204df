import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { useCounter } from '../../src/compat/mcp/count-use.ts'
import { AppError } from '../../src/errors.ts'
import { buildTestApp, get, publish, put, skillMd } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { patch } from '../requests.ts'
import { callTool, connectMcp, ERAS, stats, store } from './mcp-wire.ts'

for (const era of ERAS) {
  suite(`the tools at /mcp, ${era}`, () => {
    test('are those of a chat, whatever a client knows', async (t) => {
      const client = await connectMcp(t, await buildTestApp(t), { era })
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
        [
          ['load_skill', true],
          ['read_skill_file', true],
          ['search_skills', true],
          ['add_skill', false],
        ],
      )
      assert.deepEqual(tools[0]?.inputSchema.required, ['name'])
    })

    test('load a skill and read its files, each time whole, and are counted', async (t) => {
      const app = await buildTestApp(t)
      await store(app, skillMd('greet', 'BODY'), { 'references/a.md': 'one\ntwo\nthree' })
      const client = await connectMcp(t, app, { era })
      const first = await callTool(client, 'load_skill', { name: 'greet' })
      assert.match(first.text, /^<skill name="greet" version="1">\nBODY\n<\/skill>\n\nFiles of/)
      assert.deepEqual(await callTool(client, 'load_skill', { name: 'greet' }), first)
      const read = { skill: 'greet', path: 'references/a.md', offset: 2, limit: 1 }
      assert.deepEqual(await callTool(client, 'read_skill_file', read), {
        text: 'two\n… (1 more lines)',
        isError: false,
      })
      await put(app, 'greet', skillMd('greet', 'NEW'))
      assert.match((await callTool(client, 'load_skill', { name: 'greet' })).text, /"2">\nNEW/)
      assert.deepEqual(await stats(app, 'greet'), { loads: 3, reads: 1, versions: [2, 1] })
      const { savings, conversations } = (await get(app, '/stats')).json()
      assert.deepEqual([savings.fresh.bodies, conversations], [0, 0])
    })

    test('tell the nearest names where there is none such', async (t) => {
      const app = await buildTestApp(t)
      for (const name of ['code-review', 'secret', 'off']) await publish(app, skillMd(name))
      await put(app, 'secret', skillMd('secret', 'B', 'disable-model-invocation: true\n'))
      await patch(app, 'off', { enabled: false })
      const client = await connectMcp(t, app, { era })
      for (const name of ['code-revue', 'off', 'secret', '__proto__', 'constructor', '', '../x']) {
        for (const [tool, input] of [
          ['load_skill', { name }],
          ['read_skill_file', { skill: name, path: 'nothing.md' }],
        ] as const) {
          const { text, isError } = await callTool(client, tool, input)
          assert.ok(isError)
          const hidden = tool === 'read_skill_file' && name === 'secret'
          assert.match(text, hidden ? /has no file "nothing.md"/ : /^There is no skill named "/)
        }
      }
      const wrong = await callTool(client, 'load_skill', { name: 'code-revue' })
      assert.match(wrong.text, /The nearest names: code-review\./)
    })

    test('say what is wrong with arguments, and refuse other tools', async (t) => {
      const client = await connectMcp(t, await buildTestApp(t), { era })
      for (const input of [{}, { name: 1 }, { name: 'a', more: true }]) {
        const { text, isError } = await callTool(client, 'load_skill', input)
        assert.match(text, /^The arguments do not fit: /)
        assert.ok(isError)
      }
      const other = client.callTool({ name: 'toString', arguments: {} })
      await assert.rejects(other, { code: -32602, message: /no tool named "toString"/ })
    })

    test('find skills by their words', async (t) => {
      const app = await buildTestApp(t)
      for (const name of ['tax-form', 'greet']) await publish(app, skillMd(name))
      const client = await connectMcp(t, app, { era })
      const { text } = await callTool(client, 'search_skills', { query: 'tax form', limit: 1 })
      assert.match(text, /^- tax-form: Says hello/)
      const none = await callTool(client, 'search_skills', { query: 'xylophone' })
      assert.equal(none.text, 'No skill matches. Try other words.')
    })
  })
}

test('a use that cannot be counted is logged, and the call answered', async () => {
  const logged: object[] = []
  const record = async () => {
    throw new AppError('storage_full', 'No room.')
  }
  const count = useCounter({ record }, { warn: (about: object) => void logged.push(about) })
  await count({ skill: 'greet', version: 1, kind: 'load', tokens: 1, step: 0 }, null)
  await count(undefined, null)
  assert.equal(logged.length, 1)
})

suite('add_skill', () => {
  test('stores a skill with its files, for the very next call', async (t) => {
    const app = await buildTestApp(t)
    const client = await connectMcp(t, app)
    const files = [
      { path: 'a.txt', content: 'plain' },
      { path: 'b.bin', content: '/wA=', encoding: 'base64' },
    ]
    const content = skillMd('greet', 'See [it](a.txt) and [b](b.bin).')
    const added = await callTool(client, 'add_skill', { content, files, note: 'learnt' })
    assert.match(added.text, /^Stored: greet, version 1\./)
    const loaded = await callTool(client, 'load_skill', { name: 'greet' })
    assert.match(loaded.text, /See \[it\]/)
    const bytes = await get(app, '/skills/greet/files/b.bin')
    assert.deepEqual([...bytes.rawPayload], [255, 0])
    const { data } = (await get(app, '/skills/greet/versions')).json()
    assert.deepEqual([data[0].note, data[0].by], ['learnt', null])
  })

  test('replaces a skill only when it is told to', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet', 'OLD'))
    const client = await connectMcp(t, app)
    const content = skillMd('greet', 'NEW')
    const refused = await callTool(client, 'add_skill', { content })
    assert.match(refused.text, /skill_exists/)
    assert.ok(refused.isError)
    const replaced = await callTool(client, 'add_skill', { content, replace: true })
    assert.match(replaced.text, /^Stored: greet, version 2\./)
    const again = await callTool(client, 'add_skill', { content, replace: true })
    assert.match(again.text, /^It is stored already: greet, version 2\./)
  })

  test('tells every fault with its code and its line', async (t) => {
    const client = await connectMcp(t, await buildTestApp(t))
    const content = '---\nname: Bad Name!\ntags: [{}]\n---\nBody\n'
    const { text, isError } = await callTool(client, 'add_skill', { content })
    assert.ok(isError)
    assert.match(text, /^SKILL\.md:2: .*\(name_invalid\)$/m)
    assert.match(text, /\(description_missing\)$/m)
    const files = [{ path: '../x', content: '' }]
    const climbing = await callTool(client, 'add_skill', { content: skillMd('greet'), files })
    assert.match(climbing.text, /archive_path/)
  })

  test('is there only for keys that may write, whose name the version bears', async (t) => {
    const { app, keys } = await withKeys(t, {
      reader: ['skills:read'],
      writer: ['skills:read', 'skills:write'],
      admin: ['admin'],
    })
    for (const [who, has] of [
      ['reader', false],
      ['writer', true],
      ['admin', true],
    ] as const) {
      const client = await connectMcp(t, app, { headers: keys[who] })
      const { tools } = await client.listTools()
      assert.equal(
        tools.some(({ name }) => name === 'add_skill'),
        has,
      )
      const call = client.callTool({
        name: 'add_skill',
        arguments: { content: skillMd(`by-${who}`) },
      })
      if (has) assert.equal((await call).isError, undefined)
      else await assert.rejects(call, { code: -32602 })
    }
    const { data } = (await get(app, '/skills/by-writer/versions', keys.admin)).json()
    assert.match(data[0].by, /^key_/)
  })
})
