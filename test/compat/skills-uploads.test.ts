import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { zipSync } from 'fflate'
import { buildTestApp, get, skillMd } from '../build-app.ts'
import { ask, assertRefused, create, field, fileOf, GA, OPENAI, ok, upload } from './skills-wire.ts'

const invalid = (code: string): [number, string, string] => [400, 'invalid_request_error', code]

suite('an upload', { concurrency: 2 }, () => {
  test('may be a zip alone, under any name, and flat or in a folder', async (t) => {
    const app = await buildTestApp(t)
    const text = (name: string) => new Uint8Array(Buffer.from(skillMd(name)))
    const flat = Buffer.from(zipSync({ 'SKILL.md': text('flat') }))
    const wrapped = Buffer.from(zipSync({ 'Wrapped/SKILL.md': text('wrapped') }))
    const parts = { flat, wrapped }
    for (const [name, data] of Object.entries(parts)) {
      const sent = [{ name: 'files', fileName: 'blob', data }]
      assert.equal((await ok(upload(app, '/skills', OPENAI, sent))).name, name)
    }
    const other = Buffer.from(zipSync({ 'y/SKILL.md': text('x') }))
    const refused = await upload(app, '/skills', GA, [{ fileName: 'x.zip', data: other }])
    assertRefused(refused, 'anthropic', [400, 'invalid_request_error', 'name_mismatch'])
  })

  test('may have base names only, or a folder that is named but for its writing', async (t) => {
    const app = await buildTestApp(t)
    const flat = [
      { fileName: 'SKILL.md', data: skillMd('flat') },
      { fileName: 'REF.md', data: 'R' },
    ]
    const { id } = await ok(upload(app, '/skills', OPENAI, flat))
    await ok(upload(app, `/skills/${id}/versions`, OPENAI, flat))
    const twice = [...flat, { fileName: 'ref.md', data: 'R' }]
    const refused = await upload(app, `/skills/${id}/versions`, OPENAI, twice)
    assertRefused(refused, 'openai', invalid('archive_duplicate'))

    await ok(upload(app, '/skills', OPENAI, [fileOf('financial-skill', 'x', 'Financial_Skill')]))
    for (const folder of ['financial', 'Financial Skill', 'financial-skill-']) {
      const wrong = await upload(app, '/skills', OPENAI, [fileOf('financial-skill', 'x', folder)])
      assertRefused(wrong, 'openai', invalid('name_mismatch'))
    }
  })

  test('of a version has the name of its skill', async (t) => {
    const app = await buildTestApp(t)
    const { id } = await create(app, OPENAI, 'greet')
    for (const headers of [OPENAI, GA]) {
      const path = `/skills/${id}/versions`
      const refused = await upload(app, path, headers, [fileOf('other')])
      const family = headers === GA ? 'anthropic' : 'openai'
      assertRefused(refused, family, invalid('name_mismatch'))
    }
    assert.equal((await get(app, '/skills/other')).statusCode, 404)
  })

  test('that is refused tells every fault, and leaves nothing', async (t) => {
    const app = await buildTestApp(t)
    const bad = '---\nname: Bad Name\ndescription: 5\n---\n'
    const refused = await upload(app, '/skills', OPENAI, [{ fileName: 'SKILL.md', data: bad }])
    const { message, param } = assertRefused(refused, 'openai', invalid('name_invalid'))
    assert.equal(message.split('\n').length, 2)
    assert.equal(param, 'name')
    assert.deepEqual((await ok(ask(app, 'GET', '/skills', OPENAI))).data, [])
  })

  test('that is no form of files is refused', async (t) => {
    const app = await buildTestApp(t)
    const json = await ask(app, 'POST', '/skills', OPENAI, { files: [] })
    assertRefused(json, 'openai', [415, 'invalid_request_error', 'media_type'])
    const zip = { ...OPENAI, 'content-type': 'application/zip' }
    const bytes = await ask(app, 'POST', '/skills', zip, 'PK')
    assertRefused(bytes, 'openai', [415, 'invalid_request_error', 'media_type'])
    const none = await ask(app, 'POST', '/skills', OPENAI)
    assertRefused(none, 'openai', [415, 'invalid_request_error', 'media_type'])
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=other']) {
      const headers = { ...GA, 'content-type': type }
      const cut = await ask(app, 'POST', '/skills', headers, '--x\r\n')
      assertRefused(cut, 'anthropic', invalid('body_invalid'))
    }
    const forms = [
      [],
      [field('display_name', 'x')],
      [field('files', 'text'), fileOf('a')],
      [field('files[]', 'text'), fileOf('a')],
    ]
    for (const parts of forms) {
      const refused = await upload(app, '/skills', OPENAI, parts)
      assertRefused(refused, 'openai', invalid('body_invalid'))
    }
    const ignored = [field('purpose', 'x'), fileOf('a'), field('beta', 'true')]
    await ok(upload(app, '/skills', OPENAI, ignored))
  })

  test('of too many bytes is 413', async (t) => {
    const app = await buildTestApp(t, { env: { MAX_REQUEST_BYTES: '100000' } })
    const big = { fileName: 'a/big.txt', data: 'x'.repeat(200_000) }
    const openai = await upload(app, '/skills', OPENAI, [fileOf('a'), big])
    assertRefused(openai, 'openai', [413, 'invalid_request_error', 'body_too_large'])
    const anthropic = await upload(app, '/skills', GA, [fileOf('a'), big])
    assertRefused(anthropic, 'anthropic', [413, 'request_too_large', 'body_too_large'])
  })
})
