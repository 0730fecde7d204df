import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { unzipSync, zipSync } from 'fflate'
import OpenAI, { toFile } from 'openai'
import OpenAI7, { toFile as toFile7 } from 'openai-7'
import { buildTestApp, get, skillMd, type TestApp } from '../build-app.ts'
import { withKeys } from '../http/with-keys.ts'
import { addressOf } from './openai-chat-wire.ts'

/** Both versions are used in the same way, and have types of their own: one is taken for the other. */
const versions: [name: string, Client: typeof OpenAI, toUpload: typeof toFile][] = [
  ['6', OpenAI, toFile],
  ['7', Object(OpenAI7), Object(toFile7)],
]

for (const [version, Client, toUpload] of versions) {
  suite(`the package openai ${version}`, { concurrency: 2 }, () => {
    const clientFor = async (app: TestApp, apiKey = 'any') =>
      new Client({ apiKey, baseURL: `${await addressOf(app)}/v1` })
    const filesOf = (name: string, body?: string) =>
      Promise.all([
        toUpload(Buffer.from(skillMd(name, body)), `${name}/SKILL.md`),
        toUpload(Buffer.from('R'), `${name}/r.md`),
      ])

    test('keeps skills and their versions', async (t) => {
      const app = await buildTestApp(t)
      const { skills } = await clientFor(app)
      const made = await skills.create({ files: await filesOf('greet') })
      const { id } = made
      assert.deepEqual([made.object, made.name, made.default_version], ['skill', 'greet', '1'])
      const second = await skills.versions.create(id, { files: await filesOf('greet', 'Two.') })
      assert.deepEqual([second.object, second.version], ['skill.version', '2'])
      assert.equal((await get(app, '/skills/greet')).json().version, 1)
      const files = await filesOf('greet', 'Three.')
      await skills.versions.create(id, { files, default: true })
      assert.equal((await skills.retrieve(id)).default_version, '3')
      const updated = await skills.update(id, { default_version: '2' })
      assert.deepEqual([updated.default_version, updated.latest_version], ['2', '3'])

      const listed: string[] = []
      for await (const one of skills.versions.list(id, { limit: 1 })) listed.push(one.version)
      assert.deepEqual(listed, ['3', '2', '1'])
      assert.equal((await skills.versions.retrieve('3', { skill_id: id })).version, '3')
      const removed = await skills.versions.delete('3', { skill_id: id })
      assert.deepEqual([removed.deleted, removed.version], [true, '3'])
      await assert.rejects(
        skills.versions.delete('2', { skill_id: id }),
        (error) => error instanceof Client.BadRequestError && error.code === 'default_version',
      )
      assert.equal((await skills.delete(id)).deleted, true)
      await assert.rejects(skills.retrieve(id), Client.NotFoundError)
    })

    test('sends a zip, and gets one', async (t) => {
      const app = await buildTestApp(t)
      const { skills } = await clientFor(app)
      const zip = zipSync({ 'greet/SKILL.md': new Uint8Array(Buffer.from(skillMd('greet'))) })
      const { id } = await skills.create({ files: await toUpload(Buffer.from(zip), 'greet.zip') })
      for (const content of [
        await skills.content.retrieve(id),
        await skills.versions.content.retrieve('1', { skill_id: id }),
      ]) {
        const files = unzipSync(new Uint8Array(await content.arrayBuffer()))
        assert.deepEqual(Object.keys(files), ['greet/SKILL.md'])
      }
    })

    test('lists skills either way', async (t) => {
      const app = await buildTestApp(t)
      const { skills } = await clientFor(app)
      for (const name of ['one', 'two', 'three']) {
        await skills.create({ files: await filesOf(name) })
      }
      for (const order of ['asc', 'desc'] as const) {
        const names: string[] = []
        for await (const { name } of skills.list({ order, limit: 1 })) names.push(name)
        const expected = ['one', 'two', 'three']
        assert.deepEqual(names, order === 'asc' ? expected : expected.reverse())
      }
    })

    test('tells failures by their classes, and tries a conflict once', async (t) => {
      const { app, keys } = await withKeys(t, { reader: ['skills:read'], writer: ['skills:write'] })
      let requests = 0
      const counting: typeof fetch = (input, init) => {
        // It also asks for a data: URL, to learn of what its fetch can do.
        if (String(input).startsWith('http')) requests += 1
        return fetch(input, init)
      }
      const { baseURL } = await clientFor(app)
      const apiKey = keys.writer['x-api-key']
      const { skills } = new Client({ apiKey, baseURL, fetch: counting })
      await skills.create({ files: await filesOf('greet') })
      await assert.rejects(skills.create({ files: await filesOf('greet') }), (error) => {
        assert.ok(error instanceof Client.ConflictError)
        assert.equal(error.code, 'skill_exists')
        assert.match(error.requestID ?? '', /^req_/)
        return true
      })
      assert.equal(requests, 2)
      const reader = new Client({ apiKey: keys.reader['x-api-key'], baseURL })
      assert.equal((await reader.skills.list()).data.length, 1)
      const refused = reader.skills.create({ files: await filesOf('other') })
      await assert.rejects(refused, Client.PermissionDeniedError)
      const stranger = new Client({ apiKey: 'stranger', baseURL })
      await assert.rejects(stranger.skills.list(), Client.AuthenticationError)
    })
  })
}
