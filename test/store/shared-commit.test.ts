import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import { openDatabase } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables.ts'
import { inTransaction, waitingWrites } from '../../src/store/transaction.ts'

async function open(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-'))
  const path = join(folder, 'skills.db')
  const db = await openDatabase(`sqlite:${path}`)
  t.after(async () => {
    await db.destroy()
    await rm(folder, { recursive: true })
  })
  return { db, path }
}

const insert = (db: Kysely<Tables>, sha256: string, text = sha256) =>
  db.insertInto('texts').values({ sha256, text }).execute()

const store = (db: Kysely<Tables>, name: string, text?: string) =>
  inTransaction(db, (trx) => insert(trx, name, text))

async function stored(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('texts').select('sha256').orderBy('sha256').execute()
  return rows.map(({ sha256 }) => sha256)
}

suite('transactions that share a commit', () => {
  test('are seen by another connection once any of them has been told', async (t) => {
    const { db, path } = await open(t)
    const reader = new Database(path, { readonly: true })
    t.after(() => reader.close())
    const count = reader.prepare<[], number>('select count(*) from texts').pluck()
    const seen = await Promise.all(
      Array.from({ length: 10 }, (_, at) => store(db, `text ${at}`).then(() => count.get())),
    )
    assert.deepEqual(seen, Array(10).fill(10))
  })

  test('are counted while they wait, and only then', async (t) => {
    const { db } = await open(t)
    assert.equal(waitingWrites(db), 0)
    const all = Array.from({ length: 10 }, (_, at) => store(db, `text ${at}`))
    assert.equal(waitingWrites(db), 10)
    await Promise.all(all)
    assert.equal(waitingWrites(db), 0)
  })

  test('take back what one of them did that fails, and only that', async (t) => {
    const { db } = await open(t)
    const failing = inTransaction(db, async (trx) => {
      await insert(trx, 'half')
      throw new Error('no more')
    })
    const twice = [store(db, 'twice'), store(db, 'twice')]
    const done = await Promise.allSettled([store(db, 'a'), failing, ...twice, store(db, 'b')])
    const reasons = done.map((one) => (one.status === 'rejected' ? one.reason.message : 'stored'))
    assert.deepEqual(reasons.slice(0, 3), ['stored', 'no more', 'stored'])
    assert.match(reasons[3] ?? '', /UNIQUE/)
    assert.deepEqual(reasons.slice(4), ['stored'])
    assert.deepEqual(await stored(db), ['a', 'b', 'twice'])
  })

  test('that one of them cost their transaction are done again, each alone', async (t) => {
    const { db } = await open(t)
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db)
    await sql`pragma max_page_count = ${sql.lit((rows[0]?.page_count ?? 0) + 20)}`.execute(db)
    const huge = store(db, 'huge', 'x'.repeat(1_000_000))
    const done = await Promise.allSettled([store(db, 'a'), huge, store(db, 'b')])
    assert.deepEqual(
      done.map((one) => (one.status === 'rejected' ? one.reason.code : 'stored')),
      ['stored', 'SQLITE_FULL', 'stored'],
    )
    assert.deepEqual(await stored(db), ['a', 'b'])
  })
})
