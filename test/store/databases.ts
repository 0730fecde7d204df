import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { openDatabase } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables.ts'

const postgresUrl = process.env.TEST_POSTGRES_URL

export type Open = (t: TestContext) => Promise<Kysely<Tables>>

/** Runs a suite on SQLite, and on PostgreSQL where there is one. */
export function onEachDatabase(title: string, tests: (open: Open) => void): void {
  suite(`${title} on SQLite`, () => tests((t) => openFor(t, 'sqlite::memory:')))
  suite(`${title} on PostgreSQL`, () => {
    if (postgresUrl) tests(async (t) => openFor(t, await postgresSchema(t)))
    else withoutPostgres()
  })
}

/** A PostgreSQL must be there where nobody would notice a test that is skipped. */
export function withoutPostgres(): void {
  test('needs TEST_POSTGRES_URL, as .ci/postgres start prints it', (t) => {
    if (process.env.CI) throw new Error('TEST_POSTGRES_URL is not set')
    t.skip('TEST_POSTGRES_URL is not set')
  })
}

async function openFor(t: TestContext, url: string): Promise<Kysely<Tables>> {
  const db = await openDatabase(url)
  t.after(() => db.destroy())
  return db
}

export const hasPostgres = postgresUrl !== undefined

/** The URL of a schema of its own for each test, so that tests share a server and no row. */
export async function postgresSchema(t: TestContext): Promise<string> {
  if (!postgresUrl) throw new Error('TEST_POSTGRES_URL is not set')
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query(`create schema ${schema}`)
  t.after(async () => {
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  })
  const scoped = new URL(postgresUrl)
  scoped.searchParams.set('options', `-c search_path=${schema}`)
  return scoped.href
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
