import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { buildTestApp, publish, skillMd } from '../build-app.ts'
import { get, NEWER, namesAt, OLDER, SCHEMA, withTwo } from './well-known-wire.ts'

/** Of a path as it is written, which `inject` and `fetch` would first tidy up. */
async function statusOf(port: string, path: string) {
  const asked = request({ host: '127.0.0.1', port, path }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

const long = `d${'x'.repeat(1024)}`
const notForAll = {
  'an internal skill': skillMd('other', 'Say.', 'metadata:\n  internal: true\n'),
  'YAML that was repaired': '---\nname: other\ndescription: Use when: somebody greets\n---\nSay.\n',
  'a name that was made a slug': '---\nname: Other\ndescription: Says hello.\n---\nSay.\n',
  'no name': '---\ndescription: Says hello.\n---\nSay.\n',
  'a long description': `---\nname: other\ndescription: ${long}\n---\nSay.\n`,
}
for (const [what, text] of Object.entries(notForAll)) {
  test(`${what} is not handed out, in no index and by no URL`, async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet'))
    const stored = await publish(app, text, '?mode=lenient&name=other')
    assert.equal(stored.statusCode, 201, stored.body)
    assert.deepEqual(await namesAt(app, `${NEWER}/index.json`), ['greet'])
    assert.deepEqual(await namesAt(app, `${OLDER}/index.json`), ['greet'])
    assert.equal((await get(app, `${NEWER}/other/SKILL.md`)).statusCode, 404)
    assert.equal((await get(app, `${OLDER}/other/SKILL.md`)).statusCode, 404)
  })
}

test('what models may not load by themselves is handed out, and a draft is not', async (t) => {
  const app = await buildTestApp(t)
  await publish(app, skillMd('by-hand', 'Say.', 'disable-model-invocation: true\n'))
  await publish(app, skillMd('draft'), '?activate=false')
  assert.deepEqual(await namesAt(app, `${NEWER}/index.json`), ['by-hand'])
})

test('nothing is an empty index', async (t) => {
  const app = await buildTestApp(t)
  const newer = await get(app, `${NEWER}/index.json`)
  assert.deepEqual(newer.json(), { $schema: SCHEMA, skills: [] })
  assert.deepEqual((await get(app, `${OLDER}/index.json`)).json(), { skills: [] })
})

test('what is not there, and every climbing path, is 404', async (t) => {
  const app = await withTwo(t)
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  assert.equal(await statusOf(port, `${NEWER}/pdf-tools/references/guide.md`), 200)
  for (const path of [
    '',
    '/',
    '/nothing',
    '/index',
    '/greet',
    '/greet/',
    '/greet/skill.md',
    '/greet/nothing.md',
    '/greet.tar.gz',
    '/nothing.tar.gz',
    '/.tar.gz',
    '/pdf-tools/references',
    '/pdf-tools/../greet/SKILL.md',
    '/pdf-tools/..%2fgreet/SKILL.md',
    '/pdf-tools/%2e%2e/%2e%2e/etc/passwd',
    '/../../package.json',
    '/pdf-tools//SKILL.md',
    '/pdf-tools/references/../SKILL.md',
    '/pdf-tools/..%5cSKILL.md',
    '/pdf-tools/SKILL.md%00',
    '/%00/SKILL.md',
    `/${'x'.repeat(9000)}/SKILL.md`,
  ]) {
    for (const root of [NEWER, OLDER]) {
      assert.equal(await statusOf(port, root + path), 404, `${root}${path}`)
    }
  }
})
