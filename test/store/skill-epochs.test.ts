import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { migrate } from '../../src/store/migrate.ts'
import { isPostgres } from '../../src/store/search-index.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { onEachDatabase } from './databases.ts'
import { publication } from './publication.ts'

const UNDO = [
  'drop index skill_versions_by_epoch',
  'alter table skill_versions drop column epoch',
  'alter table registry drop column epoch',
  'alter table skills drop column display_name',
  'drop table skill_shells',
  "delete from migrations where name = '0011-skill-records.sql'",
]

onEachDatabase('versions from before epochs', (open) => {
  test('get rising ones from when they were written', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    const times = [
      '2026-01-02T03:04:05.678Z',
      '2026-01-02T03:04:05.678Z',
      '2025-12-31T00:00:00.000Z',
    ]
    for (const [index, time] of times.entries()) {
      await skills.publish(publication('greet', { body: `${index}` }))
      await db
        .updateTable('skill_versions')
        .set({ written_at: time })
        .where('version', '=', index + 1)
        .execute()
    }
    for (const statement of UNDO) await sql.raw(statement).execute(db)
    await migrate(db, isPostgres(db) ? 'postgres' : 'sqlite')

    const rows = await db.selectFrom('skill_versions').select('epoch').orderBy('version').execute()
    const first = Date.parse('2026-01-02T03:04:05.678Z') * 1000
    assert.deepEqual(
      rows.map(({ epoch }) => epoch),
      [first, first + 1, first + 2],
    )
    const { epoch } = await db.selectFrom('registry').select('epoch').executeTakeFirstOrThrow()
    assert.equal(epoch, first + 2)
  })
})
