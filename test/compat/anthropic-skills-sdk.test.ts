import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic, { toFile } from '@anthropic-ai/sdk'
import Anthropic71, { toFile as toFile71 } from 'anthropic-sdk-0-71'
import Anthropic96, { toFile as toFile96 } from 'anthropic-sdk-0-96'
import { unzipSync } from 'fflate'
import { buildTestApp, get, skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { addressOf } from './openai-chat-wire.ts'

const skillFiles = (name: string, body?: string) =>
  Promise.all([
    toFile(Buffer.from(skillMd(name, body)), `${name}/SKILL.md`),
    toFile(Buffer.from('R'), `${name}/references/r.md`),
  ])

async function namesOf<Item>(items: AsyncIterable<Item>, nameOf: (item: Item) => unknown) {
  const names: unknown[] = []
  for await (const item of items) names.push(nameOf(item))
  return names
}

suite('the package of Anthropic', { concurrency: 2 }, () => {
  const clientFor = async (app: TestApp, apiKey = 'any') =>
    new Anthropic({ apiKey, baseURL: await addressOf(app) })

  for (const way of ['skills', 'beta.skills'] as const) {
    test(`keeps skills by client.${way}`, async (t) => {
      const app = await buildTestApp(t)
      const client = await clientFor(app)
      const skills = way === 'skills' ? client.skills : client.beta.skills
      const files = await skillFiles('greet')
      const made = await skills.create({ files, display_name: 'Greeting' })
      assert.deepEqual([made.type, made.display_name], ['skill', 'Greeting'])
      assert.match(made._request_id ?? '', /^req_/)
      await skills.create({ files: await skillFiles('other') })
      await skills.create({ files: await skillFiles('third') })
      assert.deepEqual(await namesOf(skills.list({ limit: 1 }), (skill) => skill.display_name), [
        'third',
        'other',
        'Greeting',
      ])

      const { id } = made
      const second = await skills.versions.create(id, { files: await skillFiles('greet', 'Two.') })
      assert.deepEqual([second.type, second.skill_id, second.name], ['skill_version', id, 'greet'])
      assert.equal((await skills.retrieve(id)).latest_version_id, second.id)
      const versions = skills.versions.list(id, { limit: 1 })
      assert.deepEqual(await namesOf(versions, (version) => version.id), [
        second.id,
        made.latest_version_id,
      ])
      const latest = await skills.versions.retrieve('latest', { skill_id: id })
      assert.equal(latest.id, second.id)
      const deleted = await skills.versions.delete(second.id, { skill_id: id })
      assert.deepEqual([deleted.id, deleted.type], [second.id, 'skill_version_deleted'])
      assert.equal((await skills.delete(id)).type, 'skill_deleted')
      await assert.rejects(skills.retrieve(id), Anthropic.NotFoundError)
    })
  }

  test('keeps skills in the shape of the beta, down to an empty shell', async (t) => {
    const app = await buildTestApp(t)
    const { skills } = (await clientFor(app)).beta
    const betas = ['skills-2025-10-02']
    const files = await skillFiles('greet')
    const { id, ...rest } = await skills.create({ files, betas, display_name: 'Greeting' })
    const { latest_version, display_title } = { latest_version: '', display_title: '', ...rest }
    assert.equal(display_title, 'Greeting')
    assert.match(latest_version, /^\d{16}$/)
    await assert.rejects(skills.delete(id, { betas }), Anthropic.BadRequestError)
    const removed = await skills.versions.delete(latest_version, { skill_id: id, betas })
    assert.equal(removed.id, latest_version)
    const shell = await skills.retrieve(id, { betas })
    assert.deepEqual({ latest_version, ...shell }.latest_version, null)
    assert.equal((await skills.delete(id, { betas })).id, id)
  })

  test('downloads a version', async (t) => {
    const app = await buildTestApp(t)
    const { skills } = (await clientFor(app)).beta
    const { id } = await skills.create({ files: await skillFiles('greet') })
    const content = await skills.versions.download('latest', { skill_id: id })
    const files = unzipSync(new Uint8Array(await content.arrayBuffer()))
    assert.deepEqual(Object.keys(files).sort(), ['greet/SKILL.md', 'greet/references/r.md'])
  })

  test('tells failures by their classes, and tries a conflict once', async (t) => {
    const app = await buildTestApp(t)
    let requests = 0
    const counting: typeof fetch = (input, init) => {
      // It also asks for a data: URL, to learn of what its fetch can do.
      if (String(input).startsWith('http')) requests += 1
      return fetch(input, init)
    }
    const baseURL = await addressOf(app)
    const { skills } = new Anthropic({ apiKey: 'any', baseURL, fetch: counting })
    await skills.create({ files: await skillFiles('greet') })
    const again = skills.create({ files: await skillFiles('greet') })
    await assert.rejects(again, (error) => {
      assert.ok(error instanceof Anthropic.ConflictError)
      assert.equal(error.type, 'conflict_error')
      assert.match(error.requestID ?? '', /^req_/)
      return true
    })
    assert.equal(requests, 2)
    const bad = [await toFile(Buffer.from('no frontmatter'), 'greet/SKILL.md')]
    await assert.rejects(skills.create({ files: bad }), Anthropic.BadRequestError)
  })

  test('sends a key of the service', async (t) => {
    const { app, keys } = await withKeys(t, { reader: ['skills:read'], writer: ['skills:write'] })
    const writer = await clientFor(app, keys.writer['x-api-key'])
    const { baseURL } = writer
    await writer.skills.create({ files: await skillFiles('greet') })
    const reader = new Anthropic({ apiKey: keys.reader['x-api-key'], baseURL })
    assert.equal((await namesOf(reader.skills.list(), ({ id }) => id)).length, 1)
    const refused = reader.skills.create({ files: await skillFiles('other') })
    await assert.rejects(refused, Anthropic.PermissionDeniedError)
    const stranger = new Anthropic({ apiKey: 'stranger', baseURL })
    await assert.rejects(stranger.skills.list(), Anthropic.AuthenticationError)
  })
})

test('the AI SDK uploads a skill', async (t) => {
  const app = await buildTestApp(t)
  const baseURL = `${await addressOf(app)}/v1`
  const data = { type: 'text', text: skillMd('greet') } as const
  const uploaded = await createAnthropic({ apiKey: 'any', baseURL })
    .skills()
    .uploadSkill({ displayTitle: 'Greeting', files: [{ path: 'greet/SKILL.md', data }] })
  const { id, title, description } = (await get(app, '/skills/greet')).json()
  assert.deepEqual(uploaded.providerReference, { anthropic: id })
  assert.deepEqual([uploaded.name, uploaded.displayTitle], ['greet', 'Greeting'])
  assert.deepEqual([uploaded.description, title], [description, 'Greeting'])
  assert.match(uploaded.latestVersion ?? '', /^\d{16}$/)
})

const olds: [version: string, Client: typeof Anthropic71, toOldFile: typeof toFile71][] = [
  ['0.71', Anthropic71, toFile71],
  ['0.96', Object(Anthropic96), Object(toFile96)],
]
for (const [version, Client, toOldFile] of olds) {
  test(`the package of Anthropic ${version} keeps skills by base names`, async (t) => {
    const { app, keys } = await withKeys(t, { both: ['skills:read', 'skills:write'] })
    const apiKey = keys.both['x-api-key']
    const { skills } = new Client({ apiKey, baseURL: await addressOf(app) }).beta
    const files = (body: string) =>
      Promise.all([
        toOldFile(Buffer.from(skillMd('greet', body)), 'greet/SKILL.md'),
        toOldFile(Buffer.from('R'), 'greet/r.md'),
      ])
    const made = await skills.create({ display_title: 'Greeting', files: await files('One.') })
    const { id, latest_version } = made
    assert.deepEqual([made.display_title, made.source], ['Greeting', 'custom'])
    const second = await skills.versions.create(id, { files: await files('Two.') })
    assert.deepEqual([second.directory, second.name], ['greet', 'greet'])
    assert.ok(second.version > (latest_version ?? ''))
    assert.equal((await get(app, '/skills/greet', keys.both)).json().body, 'Two.\n')
    const listed = await namesOf(skills.versions.list(id, { limit: 1 }), (one) => one.version)
    assert.deepEqual(listed, [second.version, latest_version])
    assert.equal((await skills.retrieve(id)).latest_version, second.version)
    for (const one of listed) {
      const removed = await skills.versions.delete(String(one), { skill_id: id })
      assert.equal(removed.id, one)
    }
    assert.equal((await skills.retrieve(id)).latest_version, null)
    await skills.delete(id)
    assert.deepEqual(await namesOf(skills.list(), (skill) => skill.id), [])
  })
}
