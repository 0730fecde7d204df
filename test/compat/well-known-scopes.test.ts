import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildTestApp, publish, skillMd, type TestApp } from '../build-app.ts'
import { send } from '../requests.ts'
import { waysOf } from '../upload.ts'

interface Entry {
  name: string
  url: string
}

async function entriesAt(app: TestApp, scope: string, flavour = 'agent-skills'): Promise<Entry[]> {
  const response = await app.inject({ url: `${scope}/.well-known/${flavour}/index.json` })
  assert.equal(response.statusCode, 200, response.body)
  return response.json().skills
}

const urlsAt = async (app: TestApp, scope: string) =>
  (await entriesAt(app, scope)).map(({ url }) => url)

const define = (app: TestApp, name: string, payload: object) =>
  send(app, 'PUT', `/agents/${name}`, { payload })

async function withThree(t: TestContext): Promise<TestApp> {
  const app = await buildTestApp(t)
  await publish(app, skillMd('greet', 'Say.', 'tags: [Talk, all]\n'))
  await publish(app, skillMd('review', 'Look.', 'tags: [code, all, "c/c++ 50%"]\n'))
  const files = { 'SKILL.md': skillMd('tools', 'Use.', 'tags: [code]\n'), 'a.md': 'a' }
  const { zip } = waysOf(files)
  const stored = await app.inject({ method: 'POST', url: '/api/v1/skills', ...zip })
  assert.equal(stored.statusCode, 201)
  return app
}

test('below a tag stand its skills alone, with URLs that stay there', async (t) => {
  const app = await withThree(t)
  assert.deepEqual(await urlsAt(app, '/tags/code'), [
    '/tags/code/.well-known/agent-skills/review/SKILL.md',
    '/tags/code/.well-known/agent-skills/tools.tar.gz',
  ])
  assert.deepEqual(
    (await entriesAt(app, '/tags/CODE', 'skills')).map(({ name }) => name),
    ['review', 'tools'],
  )
  assert.deepEqual(await entriesAt(app, '/tags/nobody-has-it'), [])
  for (const url of await urlsAt(app, '/tags/code')) {
    assert.equal((await app.inject({ url })).statusCode, 200, url)
    const elsewhere = url.replace('/tags/code', '/tags/talk')
    assert.equal((await app.inject({ url: elsewhere })).statusCode, 404, elsewhere)
  }
})

test('a tag of any characters is written into the URLs so that they lead back', async (t) => {
  const app = await withThree(t)
  const scope = `/tags/${encodeURIComponent('c/c++ 50%')}`
  const [url = ''] = await urlsAt(app, scope)
  assert.equal(url, `${scope}/.well-known/agent-skills/review/SKILL.md`)
  assert.equal((await app.inject({ url })).statusCode, 200)
})

test('below an agent stand the skills that it is offered, as it is defined now', async (t) => {
  const app = await withThree(t)
  const scope = '/agents/coder'
  const index = `${scope}/.well-known/agent-skills/index.json`
  assert.equal((await app.inject({ url: index })).statusCode, 404)

  const defined = await define(app, 'coder', { skills: { tags: ['code'] } })
  assert.equal(defined.statusCode, 201, defined.body)
  assert.deepEqual(await urlsAt(app, scope), [
    `${scope}/.well-known/agent-skills/review/SKILL.md`,
    `${scope}/.well-known/agent-skills/tools.tar.gz`,
  ])
  await define(app, 'coder', { skills: { names: ['greet', 'tools'], tags: ['code'] } })
  const [only = '', ...others] = await urlsAt(app, scope)
  assert.deepEqual([only, others], [`${scope}/.well-known/agent-skills/tools.tar.gz`, []])
  assert.equal((await app.inject({ url: only })).statusCode, 200)
  for (const path of ['agent-skills/review/SKILL.md', 'skills/review/SKILL.md']) {
    const hidden = await app.inject({ url: `${scope}/.well-known/${path}` })
    assert.equal(hidden.statusCode, 404, path)
    assert.equal(hidden.json().error.code, 'not_found')
  }
  assert.equal((await entriesAt(app, '/agents/default')).length, 3)
})

test('agents and tags that cannot be are not there', async (t) => {
  const app = await withThree(t)
  for (const name of ['nobody', 'No%20Body', '%00', '..%2fdefault', 'x'.repeat(500)]) {
    for (const flavour of ['agent-skills', 'skills']) {
      const url = `/agents/${name}/.well-known/${flavour}/index.json`
      assert.equal((await app.inject({ url })).statusCode, 404, url)
    }
  }
  assert.deepEqual(await entriesAt(app, '/tags/%00'), [])
})
