import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { AppError } from '../../src/errors.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { toStorageFault } from '../../src/store/storage-fault.ts'
import { hasPostgres, postgresSchema, temporaryFolder, withoutPostgres } from './databases.ts'
import { publication } from './publication.ts'

const faults = {
  storage_busy: ['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', '40001', '40P01', '53300', '55P03'],
  storage_full: ['SQLITE_FULL', '53100'],
  storage_failed: [
    'SQLITE_IOERR_FSYNC',
    'SQLITE_READONLY_DBMOVED',
    'SQLITE_CORRUPT',
    'SQLITE_CANTOPEN',
    'SQLITE_NOTADB',
    '57P01',
    '57P03',
    '08006',
    'XX001',
    '25006',
    'ECONNREFUSED',
    'ECONNRESET',
    'ENOTFOUND',
    'EAI_AGAIN',
  ],
}

for (const [code, causes] of Object.entries(faults)) {
  test(`${code} hides its cause, and says when to try again`, () => {
    for (const cause of causes) {
      const error = Object.assign(new Error('/var/lib/secret'), { code: cause })
      const fault = toStorageFault(error)
      assert.ok(fault instanceof AppError, cause)
      assert.deepEqual([fault.code, fault.status, fault.cause], [code, 503, error])
      assert.ok(fault.retryAfter)
      assert.doesNotMatch(fault.message, /secret/)
    }
  })
}

test('a mistake of ours is no fault of the storage', () => {
  for (const code of ['SQLITE_CONSTRAINT_UNIQUE', '23505', '42601', 'SQLITE_ERROR', undefined]) {
    const error = Object.assign(new Error('no such column'), { code })
    assert.equal(toStorageFault(error), error)
  }
})

suite('on SQLite', () => {
  const openFile = async (t: TestContext) => {
    const path = join(await temporaryFolder(t), 'skills.db')
    const db = await openDatabase(`sqlite:${path}`)
    t.after(() => db.destroy())
    return { path, db, skills: createSkillStore(db) }
  }

  test('another writer makes it busy, and not for long', async (t) => {
    const { path, skills } = await openFile(t)
    const other = new Database(path)
    t.after(() => other.close())
    other.exec('begin immediate')
    await assert.rejects(skills.publish(publication('greet')), { code: 'storage_busy' })
    await assert.rejects(skills.probe(), { code: 'storage_busy' })
    assert.equal(await skills.find('greet'), undefined)
    other.exec('rollback')
    assert.equal((await skills.publish(publication('greet'))).outcome, 'created')
  })

  test('a full disk is told of, and what was stored stays', async (t) => {
    const { db, skills } = await openFile(t)
    await skills.publish(publication('greet'))
    await sql`pragma max_page_count = 1`.execute(db)
    const big = publication('greet', { body: 'x'.repeat(3_000_000) })
    await assert.rejects(skills.publish(big), { code: 'storage_full' })
    assert.equal((await skills.find('greet'))?.body, 'Say hello.')
    await sql`pragma max_page_count = 1000000`.execute(db)
    assert.equal((await skills.publish(big)).outcome, 'updated')
  })

  test('a disk that takes no writes is told of', async (t) => {
    const { db, skills } = await openFile(t)
    await sql`pragma query_only = on`.execute(db)
    await assert.rejects(skills.probe(), { code: 'storage_failed' })
  })
})

suite('on PostgreSQL', () => {
  if (!hasPostgres) return withoutPostgres()

  test('a connection that is lost in a write leaves nothing half done', async (t) => {
    const db = await openDatabase(await postgresSchema(t))
    t.after(() => db.destroy())
    const skills = createSkillStore(db)
    const recording = {
      owner: 'key_1',
      key: 'k',
      fingerprint: 'f',
      answer: () => ({ status: 201, headers: {}, body: null }),
    }
    const holder = db.transaction().execute(async (trx) => {
      await sql`lock table idempotency`.execute(trx)
      const publishing = skills.publish(publication('greet'), recording)
      const rejected = assert.rejects(publishing, { code: 'storage_failed' })
      const ended = await endWaiting()
      assert.equal(ended, true)
      await rejected
    })
    async function endWaiting() {
      const end = Date.now() + 5000
      while (Date.now() < end) {
        const { rows } = await sql`select pg_terminate_backend(pid) from pg_locks
          where not granted and relation = 'idempotency'::regclass`.execute(db)
        if (rows.length > 0) return true
      }
      return false
    }
    await holder
    assert.equal(await skills.find('greet'), undefined)
    assert.equal(await skills.revision(), 0)
    assert.equal((await skills.publish(publication('greet'), recording)).outcome, 'created')
  })
})
