import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { queryPhrases } from '../../src/domain/search-terms.ts'
import { migrate } from '../../src/store/migrate.ts'
import { isPostgres } from '../../src/store/search-index.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { placeOf, type SkillSearch, type SkillStore } from '../../src/store/skills.ts'
import { onEachDatabase } from './databases.ts'
import { publication } from './publication.ts'

const store = (skills: SkillStore, name: string, description: string, more: object = {}) =>
  skills.publish(publication(name, { description, body: description, ...more }))

const search = (skills: SkillStore, q: string, more: Partial<SkillSearch> = {}) =>
  skills.search({ phrases: queryPhrases(q), limit: 100, ...more })

const find = async (skills: SkillStore, q: string, more: Partial<SkillSearch> = {}) =>
  (await search(skills, q, more)).map(({ name }) => name).join()

onEachDatabase('a search', (open) => {
  test('finds by name, description and tags, not by the body', async (t) => {
    const skills = createSkillStore(await open(t))
    await store(skills, 'pdf-forms', 'Fills in forms.', { tags: ['Paperwork'], body: 'secret' })
    await store(skills, 'tea', 'Brews a pot of tea.')
    assert.equal(await find(skills, 'PDF'), 'pdf-forms')
    assert.equal(await find(skills, 'filling'), 'pdf-forms')
    assert.equal(await find(skills, 'paperwork'), 'pdf-forms')
    assert.equal(await find(skills, 'secret'), '')
    assert.equal(await find(skills, 'pot of pdf'), 'pdf-forms,tea')
    assert.equal(await find(skills, '*'), '')
  })

  for (const [q, expected] of [
    ['周报', 'weekly'],
    ['生成周报', 'weekly'],
    ['月报', ''],
    ['报', 'weekly'],
    ['excel', 'weekly'],
    ['用Excel', 'weekly'],
    ['ＥＸＣＥＬ', 'weekly'],
    ['レポート', 'report'],
    ['ポート', 'report'],
    ['トレ', ''],
    ['보고서', 'korean'],
    ['résumés', 'french'],
    ['resume', 'french'],
  ] as const) {
    test(`of "${q}" finds ${expected || 'nothing'}`, async (t) => {
      const skills = createSkillStore(await open(t))
      await store(skills, 'weekly', '每周五自动生成周报并发送到邮箱，支持Excel导出。')
      await store(skills, 'report', 'レポートを書く。')
      await store(skills, 'korean', '주간 보고서를 만든다.')
      await store(skills, 'french', 'Writes a Résumé.')
      assert.equal(await find(skills, q), expected)
    })
  }

  test('ranks a name before a tag before a description, and equals by name', async (t) => {
    const skills = createSkillStore(await open(t))
    for (const name of ['c', 'a', 'b']) await store(skills, name, 'Brews a pot of tea.')
    await store(skills, 'e', 'Brews a pot of it.', { tags: ['tea'] })
    await store(skills, 'tea', 'Brews a pot of it.')
    for (let at = 0; at < 12; at++) await store(skills, `other-${at}`, 'Waters the plants.')
    const hits = await search(skills, 'tea')
    assert.deepEqual(
      hits.map(({ name }) => name),
      ['tea', 'e', 'a', 'b', 'c'],
    )
    assert.ok((hits[0]?.score ?? 0) > (hits[1]?.score ?? 0))
    assert.ok((hits[1]?.score ?? 0) > (hits[2]?.score ?? 0))
    assert.equal(hits[2]?.score, hits[4]?.score)
    assert.equal(await find(skills, 'tea', { limit: 2 }), 'tea,e')
    const names = await skills.rank({ phrases: queryPhrases('tea'), limit: 3 })
    assert.deepEqual(names, ['tea', 'e', 'a'])
    assert.equal(await find(skills, 'tea', { sort: 'name' }), 'a,b,c,e,tea')
    assert.equal(await find(skills, 'tea', { sort: '-updated_at', limit: 2 }), 'tea,e')
  })

  test('a rare word tells more than a frequent one', async (t) => {
    const skills = createSkillStore(await open(t))
    for (let at = 0; at < 9; at++) await store(skills, `skill-${at}`, 'Draws a chart from data.')
    await store(skills, 'zebra', 'Draws a chart of stripes.')
    await store(skills, 'chart', 'Draws a chart from data, data and data.')
    assert.match(await find(skills, 'stripes from data'), /^zebra,/)
  })

  test('a skill is found after each write as it then stands', async (t) => {
    const skills = createSkillStore(await open(t))
    await store(skills, 'drink', 'Brews tea.')
    assert.equal(await find(skills, 'tea'), 'drink')
    await store(skills, 'drink', 'Brews coffee.')
    assert.equal(await find(skills, 'tea'), '')
    assert.equal(await find(skills, 'coffee'), 'drink')
    await skills.change('drink', { currentVersion: 1 })
    assert.equal(await find(skills, 'tea'), 'drink')
    await store(skills, 'drink', 'Brews cocoa.', { activate: false })
    assert.equal(await find(skills, 'cocoa'), '')
    await skills.change('drink', { enabled: false })
    assert.equal(await find(skills, 'tea'), 'drink')
    await skills.remove('drink')
    assert.equal(await find(skills, 'tea'), '')
    await store(skills, 'drink', 'Brews mate.')
    assert.equal(await find(skills, 'mate'), 'drink')
  })

  test('a write that is refused leaves the index as it was', async (t) => {
    const skills = createSkillStore(await open(t))
    await store(skills, 'drink', 'Brews tea.')
    await store(skills, 'drink', 'Brews coffee.', { createOnly: true })
    const recording = {
      owner: '',
      key: 'k',
      fingerprint: 'f',
      answer: () => {
        throw new Error('no')
      },
    }
    const cocoa = publication('drink', { description: 'Brews cocoa.', body: 'cocoa' })
    await assert.rejects(skills.publish(cocoa, recording))
    assert.equal(await find(skills, 'coffee cocoa'), '')
    assert.equal(await find(skills, 'tea'), 'drink')
  })

  test('filters narrow what is found', async (t) => {
    const skills = createSkillStore(await open(t))
    const tea = 'Brews tea.'
    const names = (filter: Partial<SkillSearch> = {}) =>
      find(skills, 'tea', { sort: 'name', ...filter })
    await store(skills, 'a', tea, { tags: ['Hot'], allowedTools: ['Read'] })
    await store(skills, 'b', tea, { source: { type: 'directory', folder: 'b' } })
    await store(skills, 'c', tea, { hidden: true })
    await store(skills, 'd', tea, { enabled: false })
    await store(skills, 'e', tea, { activate: false })
    assert.equal(await names(), 'a,b,c,d,e')
    assert.equal(await names({ tags: ['hot'] }), 'a')
    assert.equal(await names({ tool: 'Read' }), 'a')
    assert.equal(await names({ source: 'directory' }), 'b')
    assert.equal(await names({ enabled: false }), 'd')
    assert.equal(await names({ callable: true }), 'a,b')
    assert.equal(await names({ names: ['b', 'e', 'x\0'] }), 'b,e')
    assert.equal(await names({ names: [] }), '')
  })

  test('walking the pages drops and repeats nothing while skills come and go', async (t) => {
    const skills = createSkillStore(await open(t))
    for (let at = 0; at < 13; at++) {
      await store(skills, `s-${at}`, `Brews tea. ${'Then washes up. '.repeat(at % 4)}`)
    }
    const all = (await find(skills, 'tea')).split(',')
    for (const sort of ['relevance', 'name'] as const) {
      const seen: string[] = []
      for (let after: string | undefined; ; ) {
        const found = await search(skills, 'tea', { sort, limit: 4, ...(after && { after }) })
        seen.push(...found.map(({ name }) => name))
        const last = found.at(-1)
        if (!last) break
        after = sort === 'name' ? last.name : placeOf(found, after)
        await store(skills, `other-${seen.length}-${sort}`, 'Waters the plants, and no more.')
        await skills.remove(last.name)
      }
      assert.deepEqual(
        seen,
        sort === 'name' ? all.filter((name) => seen.includes(name)).toSorted() : all,
      )
    }
    await assert.rejects(search(skills, 'tea', { after: 'x y' }), { code: 'cursor_invalid' })
  })

  test('no query is read as an instruction, and no text breaks the index', async (t) => {
    const skills = createSkillStore(await open(t))
    const evil = `'; drop table skills; -- "a" <-> b:* & | ! \\ \0 \ud800 NEAR(x) ${'x'.repeat(5000)}`
    await store(skills, 'evil', evil.replaceAll('\0', ' ').toWellFormed())
    await store(skills, 'long', '周'.repeat(30_000))
    for (const q of [evil, '"', "'", 'name:evil', 'AND', 'a*', '-x', '()', '\\', '😀', '\ud800']) {
      await search(skills, q)
    }
    assert.equal(await find(skills, 'drop'), 'evil')
    assert.equal(await find(skills, '周周'), 'long')
  })

  test('skills that were stored before there was an index are found', async (t) => {
    const db = await open(t)
    const skills = createSkillStore(db)
    await store(skills, 'drink', 'Brews tea.')
    if (!isPostgres(db)) await sql`drop trigger skill_search_removed`.execute(db)
    await sql`drop table skill_search`.execute(db)
    await db.deleteFrom('migrations').where('name', '=', '0005-search.sql').execute()
    await migrate(db, isPostgres(db) ? 'postgres' : 'sqlite')
    assert.equal(await find(skills, 'tea'), 'drink')
  })
})
