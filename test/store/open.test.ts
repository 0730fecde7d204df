import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { openDatabase } from '../../src/store/open.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { hasPostgres, postgresSchema, temporaryFolder, withoutPostgres } from './databases.ts'
import { publication } from './publication.ts'

const filled = async (t: TestContext): Promise<string> => {
  const path = join(await temporaryFolder(t), 'skills.db')
  const db = await openDatabase(`sqlite:${path}`)
  const skills = createSkillStore(db)
  for (let number = 0; number < 40; number++) {
    await skills.publish(publication(`skill-${number}`, { body: `${number} `.repeat(500) }))
  }
  await db.destroy()
  return path
}

/** Opening fails with one line that names the file, whose bytes and neighbours stay. */
async function assertRefused(path: string, reason: RegExp) {
  const before = await readFile(path)
  const neighbours = await readdir(dirname(path))
  await assert.rejects(openDatabase(`sqlite:${path}`), ({ message }: Error) => {
    assert.match(message, /^The database .+ cannot be used: .+$/)
    assert.ok(message.includes(path))
    assert.match(message, reason)
    return true
  })
  assert.deepEqual(await readFile(path), before)
  assert.deepEqual(await readdir(dirname(path)), neighbours)
}

test('the migrations of both databases have the same names', async () => {
  const names = (dialect: string) => readdir(join(import.meta.dirname, '../../migrations', dialect))
  assert.deepEqual(await names('postgres'), await names('sqlite'))
})

suite('a SQLite file', () => {
  test('is made with its folder, and keeps what was stored', async (t) => {
    const path = join(await temporaryFolder(t), 'a/b/skills.db')
    const first = await openDatabase(`sqlite:${path}`)
    await createSkillStore(first).publish(publication('greet'))
    await first.destroy()
    const second = await openDatabase(`sqlite:${path}`)
    t.after(() => second.destroy())
    assert.equal((await createSkillStore(second).find('greet'))?.version, 1)
  })

  test('is opened durable, with foreign keys, again after the first time', async (t) => {
    const path = join(await temporaryFolder(t), 'skills.db')
    for (const time of ['first', 'second']) {
      const db = await openDatabase(`sqlite:${path}`)
      await createSkillStore(db).probe()
      const pragmas = await sql`select * from pragma_journal_mode, pragma_synchronous,
        pragma_foreign_keys, pragma_busy_timeout`.execute(db)
      assert.deepEqual(
        pragmas.rows,
        [{ journal_mode: 'wal', synchronous: 2, foreign_keys: 1, timeout: 250 }],
        time,
      )
      await db.destroy()
    }
  })

  test('that is newer is refused', async (t) => {
    const path = await filled(t)
    const database = new Database(path)
    database.exec(`insert into migrations values ('9999-tomorrow.sql')`)
    database.close()
    await assertRefused(path, /newer .+ 9999-tomorrow\.sql/)
  })

  test('that is no database is refused', async (t) => {
    const path = join(await temporaryFolder(t), 'notes.txt')
    for (const text of ['x', 'a short note\n', 'a long note\n'.repeat(1000)]) {
      await writeFile(path, text)
      await assertRefused(path, /it is not a database/)
    }
  })

  test('of another program is refused', async (t) => {
    const path = join(await temporaryFolder(t), 'other.db')
    const database = new Database(path)
    database.exec('create table songs (title text)')
    database.close()
    await assertRefused(path, /another program/)
  })

  test('that is damaged is refused, wherever', async (t) => {
    const path = await filled(t)
    const sound = await readFile(path)
    for (const part of [0, 0.3, 0.5, 0.7]) {
      const bytes = Buffer.from(sound)
      const start = Math.floor((bytes.length * part) / 4096) * 4096
      bytes.fill(0x5a, start, start + 4096)
      await writeFile(path, bytes)
      await assertRefused(path, /./)
    }
    await writeFile(path, sound.subarray(0, Math.floor(sound.length / 2)))
    await assertRefused(path, /./)
  })

  test('that is read-only is refused', async (t) => {
    const path = await filled(t)
    await chmod(path, 0o444)
    await assertRefused(path, /read-only/)
  })

  test('that is a folder, or in something that is none, is refused', async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'skills.db'))
    const inFile = join(folder, 'file/skills.db')
    await writeFile(join(folder, 'file'), '')
    for (const path of [join(folder, 'skills.db'), inFile]) {
      await assert.rejects(openDatabase(`sqlite:${path}`), ({ message }: Error) => {
        assert.ok(message.startsWith(`The database ${path} cannot be used: `))
        return !message.includes('\n')
      })
    }
    assert.deepEqual(await readdir(join(folder, 'skills.db')), [])
  })
})

suite('a PostgreSQL database', () => {
  if (!hasPostgres) return withoutPostgres()

  test('opened four times at once is migrated once', async (t) => {
    const url = await postgresSchema(t)
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase(url)))
    const [db] = opened
    const migrations = await db?.selectFrom('migrations').selectAll().execute()
    await Promise.all(opened.map((each) => each.destroy()))
    const files = await readdir(join(import.meta.dirname, '../../migrations/postgres'))
    assert.deepEqual(migrations?.map(({ name }) => name).sort(), files.sort())
  })

  test('that is newer is refused', async (t) => {
    const url = await postgresSchema(t)
    const db = await openDatabase(url)
    await db.insertInto('migrations').values({ name: '9999-tomorrow.sql' }).execute()
    await db.destroy()
    await assert.rejects(openDatabase(url), /^Error: The database postgres:.+ 9999-tomorrow\.sql$/)
  })

  test('outlives connections that the server ends', async (t) => {
    const db = await openDatabase(await postgresSchema(t))
    t.after(() => db.destroy())
    const skills = createSkillStore(db)
    await skills.publish(publication('greet'))
    const broken = db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: number }>`select pg_backend_pid() as id`.execute(trx)
      await sql`select pg_terminate_backend(${rows[0]?.id})`.execute(db)
      await trx.selectFrom('skills').selectAll().execute()
    })
    await assert.rejects(broken)
    assert.ok(await skills.find('greet'))
  })
})

test('a PostgreSQL that is not there is named without its password', async () => {
  await assert.rejects(
    openDatabase('postgres://someone:secret@127.0.0.1:1/skills'),
    ({ message }: Error) =>
      /^The database postgres:\/\/127\.0\.0\.1:1\/skills cannot be used: .+$/.test(message) &&
      !message.includes('secret'),
  )
})
