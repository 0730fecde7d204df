import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { talk } from '../agent/talk.ts'
import { chat } from '../build-app.ts'
import { call, say } from '../scripted-model.ts'

const object = (more: object) => ({
  message: 'Hi',
  tools: [{ name: 'mine', input_schema: { type: 'object', ...more } }],
})

suite('hostile schemas of the caller’s tools', { concurrency: 2 }, () => {
  const cases: [what: string, schema: object, input: unknown, waits: boolean][] = [
    ['$async', { $async: true, required: ['x'] }, {}, false],
    [
      'a pattern without end',
      { properties: { a: { pattern: '^(a+)+$' } } },
      { a: `${'a'.repeat(40)}!` },
      false,
    ],
    [
      'references that double',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, at) => {
            const next = { $ref: `#/$defs/d${at + 1}` }
            return [`d${at}`, at === 39 ? {} : { allOf: [next, next] }]
          }),
        ),
        $ref: '#/$defs/d0',
      },
      {},
      false,
    ],
    ['a reference to itself', { allOf: [{ $ref: '#' }] }, {}, false],
    [
      'an $id',
      { $id: 'http://x/', properties: { a: { $id: 'http://y/', type: 'string' } } },
      { a: '' },
      true,
    ],
    [
      'the same $id elsewhere',
      { properties: { b: { $id: 'http://y/', type: 'number' } } },
      { b: 1 },
      true,
    ],
  ]
  test('neither hang nor end the service', async (t) => {
    const script = cases.flatMap(([, , input, waits]) => [
      call('mine', input),
      ...(waits ? [] : [say('Done.')]),
    ])
    const { ask, sent } = await talk(t, script)
    for (const [what, more, , waits] of cases) {
      const begun = performance.now()
      const { status } = await ask(object(more))
      assert.ok(performance.now() - begun < 5000, what)
      assert.equal(status, waits ? 'requires_action' : 'completed', what)
      if (waits) continue
      assert.match(sent().at(-1)?.results[0]?.text ?? '', /^The arguments do not fit/, what)
    }
  })

  test('a schema knows nothing of another caller’s', async (t) => {
    const { app, ask } = await talk(t, [say('Done.')])
    await ask(object({ properties: { a: { $id: 'http://mine/', type: 'string' } } }))
    const response = await chat(app, object({ properties: { a: { $ref: 'http://mine/' } } }))
    assert.equal(response.json().code, 'tool_schema_invalid')
  })
})
