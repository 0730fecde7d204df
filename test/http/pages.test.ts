import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTestApp, get, publish, put, skillMd } from '../build-app.ts'
import { assertProblem } from '../requests.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')

test('a cursor that the service did not write for this list is cursor_invalid', async (t) => {
  const app = await buildTestApp(t)
  for (const name of ['a', 'b']) await publish(app, skillMd(name))
  await put(app, 'a', skillMd('a', 'Again.'))
  const cursorOf = async (path: string): Promise<string> =>
    (await get(app, path)).json().next_cursor
  const byName = await cursorOf('/skills?limit=1')
  const byTime = await cursorOf('/skills?limit=1&sort=-updated_at')
  const versions = await cursorOf('/skills/a/versions?limit=1')
  for (const cursor of [byName, byTime, versions]) assert.match(cursor, /^[\w-]+$/)

  for (const path of [
    `/skills?cursor=${byTime}`,
    `/skills?cursor=${versions}`,
    `/skills?sort=-updated_at&cursor=${byName}`,
    `/skills/a/versions?cursor=${byName}`,
    `/conversations?cursor=${byName}`,
    '/skills?cursor=',
    '/skills?cursor=!',
    '/skills?cursor=%00',
    `/skills?cursor=${byName}x`,
    `/skills?cursor=${byName.slice(0, -1)}`,
    `/skills?cursor=${byName}=`,
    `/skills?cursor=${encode('skills:name\n')}`,
    `/skills?cursor=${encode("skills:name\n' or 1=1 --")}`,
    `/skills?cursor=${encode('skills:name\na\nb')}`,
    `/skills?cursor=${encode(`skills:name\n${'a'.repeat(65)}`)}`,
    `/skills?sort=-updated_at&cursor=${encode('skills:-updated_at\n-1')}`,
    `/skills?sort=-updated_at&cursor=${encode('skills:-updated_at\n9999999999999999999')}`,
    `/skills/a/versions?cursor=${encode('versions\n1e3')}`,
  ]) {
    const response = await get(app, path)
    assert.equal(response.statusCode, 400, path)
    assertProblem(response, 400, 'cursor_invalid')
  }
})

test('a cursor outlives the skill it stands at', async (t) => {
  const app = await buildTestApp(t)
  for (const name of ['a', 'b', 'c']) await publish(app, skillMd(name))
  const { next_cursor } = (await get(app, '/skills?limit=2')).json()
  await app.inject({ method: 'DELETE', url: '/api/v1/skills/b' })
  const { data } = (await get(app, `/skills?cursor=${next_cursor}`)).json()
  assert.deepEqual(
    data.map(({ name }: { name: string }) => name),
    ['c'],
  )
})
