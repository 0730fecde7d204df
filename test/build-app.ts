import type { TestContext } from 'node:test'
import { type Logger, pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { openService } from '../src/open-service.ts'
import type { Tracing } from '../src/telemetry/tracing.ts'

interface Options {
  /** As the environment; the database is private and in memory unless one is named. */
  env?: Record<string, string>
  stallMs?: number
  log?: Logger
  tracing?: Tracing | undefined
}

const PRIVATE = { MODEL: 'offline', DATABASE_URL: 'sqlite::memory:', SKILLS_DIR: '' }

const SILENT = pino({ level: 'silent' })

/** The real service, without a process, closed when the test ends. */
export async function buildTestApp(
  t: TestContext,
  { env = {}, log = SILENT, ...options }: Options = {},
) {
  const { app, directory } = await openService(readConfig({ ...PRIVATE, ...env }), log, options)
  t.after(() => app.close())
  await directory?.read
  return app
}

export type TestApp = Awaited<ReturnType<typeof buildTestApp>>

export const skillMd = (name: string, body = 'Say hello.', more = '') =>
  `---\nname: ${name}\ndescription: Says hello to whoever comes in. Use when somebody greets.\n${more}---\n${body}\n`

const markdown = { 'content-type': 'text/markdown' }

export const publish = (app: TestApp, payload: string | Buffer, query = '') =>
  app.inject({ method: 'POST', url: `/api/v1/skills${query}`, headers: markdown, payload })

export const put = (
  app: TestApp,
  name: string,
  payload: string | Buffer,
  headers: Record<string, string> = {},
) =>
  app.inject({
    method: 'PUT',
    url: `/api/v1/skills/${name}`,
    headers: { ...markdown, ...headers },
    payload,
  })

export const get = (app: TestApp, path: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/api/v1${path}`, headers })

export const chat = (app: TestApp, payload: object) =>
  app.inject({ method: 'POST', url: '/api/v1/chat', payload })
