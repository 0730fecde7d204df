import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { buildTestApp, publish, skillMd, type TestApp } from '../build-app.ts'
import { type Files, waysOf } from '../upload.ts'

export const NEWER = '/.well-known/agent-skills'
export const OLDER = '/.well-known/skills'
export const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'

export const GUIDE = '# Guide\r\n\u{1f44b}'
export const TOOLS: Files = {
  'SKILL.md': skillMd('pdf-tools', 'Read references/guide.md.'),
  'references/guide.md': GUIDE,
  'data.bin': Buffer.from([0, 255, 10]),
}

export const bundle = (app: TestApp, files: Files) =>
  app.inject({ method: 'POST', url: '/api/v1/skills', ...waysOf(files).zip })

export const get = (app: TestApp, url: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers })

export const sha256 = (bytes: Buffer) =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

export interface Entry {
  name: string
  type: string
  description: string
  url: string
  digest: string
}

export async function skillsOf(app: TestApp, url: string): Promise<Entry[]> {
  const response = await get(app, url)
  assert.equal(response.statusCode, 200, response.body)
  return response.json().skills
}

export const namesAt = async (app: TestApp, url: string) =>
  (await skillsOf(app, url)).map(({ name }) => name)

export async function withTwo(t: TestContext): Promise<TestApp> {
  const app = await buildTestApp(t)
  assert.equal((await bundle(app, TOOLS)).statusCode, 201)
  assert.equal((await publish(app, skillMd('greet'))).statusCode, 201)
  return app
}
