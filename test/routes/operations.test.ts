import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildTestApp } from '../build-app.ts'

test('health answers ok, also with keys and without one', async (t) => {
  const app = await buildTestApp(t, { env: { ADMIN_KEY: 'an-admin-key-of-a-test' } })
  const response = await app.inject('/health')
  assert.deepEqual([response.statusCode, response.json()], [200, { status: 'ok' }])
  assert.equal((await app.inject('/ready')).statusCode, 200)
})

test('ready names each part', async (t) => {
  const app = await buildTestApp(t)
  const response = await app.inject('/ready')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(response.json(), {
    ready: true,
    parts: {
      database: { ready: true },
      model: { ready: true, detail: 'offline' },
      workspace: { ready: true, detail: 'none' },
      skills_directory: { ready: true, detail: 'none', skipped: [] },
    },
  })
})

test('a skills directory that is not there makes nothing unready', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-'))
  t.after(() => rm(folder, { recursive: true }))
  const app = await buildTestApp(t, { env: { SKILLS_DIR: join(folder, 'none') } })
  assert.equal((await app.inject('/ready')).statusCode, 200)
})

test('metrics count requests by route and status, never by path', async (t) => {
  const app = await buildTestApp(t)
  await app.inject('/api/v1/skills/secret-name')
  const response = await app.inject('/metrics')
  assert.equal(response.statusCode, 200)
  assert.match(
    response.body,
    /^http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/skills\/:name",status="404"\} 1$/m,
  )
  assert.doesNotMatch(response.body, /secret-name/)
})

test('the contract can be read as YAML, as JSON and as a page', async (t) => {
  const app = await buildTestApp(t)
  const yaml = await app.inject('/openapi.yaml')
  assert.equal(yaml.headers['content-type'], 'application/yaml')
  const json = await app.inject('/openapi.json')
  assert.equal(json.json().openapi, '3.1.0')
  const docs = await app.inject('/docs')
  assert.match(String(docs.headers['content-type']), /^text\/html/)
})
