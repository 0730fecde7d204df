import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { onEachDatabase } from './databases.ts'
import { newFile, publication } from './publication.ts'

onEachDatabase('the skill store', (open) => {
  test('finds what was published, and every field of it', async (t) => {
    const skills = createSkillStore(await open(t))
    const said = {
      title: 'Greet!',
      description: 'Says hello. 你好',
      declaredVersion: '1.10',
      tags: ['Polite', 'short'],
      allowedTools: ['Read', 'Bash(git:*)'],
      license: 'MIT',
      compatibility: 'any',
      metadata: { team: { lead: 'Ada' } },
      extra: { 'argument-hint': '[file]', nul: '\0' },
      hidden: true,
      body: 'Say hello.\n',
      tokens: { catalog: 12, body: 34 },
      warnings: [{ code: 'body_long', message: 'long', line: 3 }],
    }
    const given = publication('greet', {
      ...said,
      files: [newFile('b.md', 'bb'), newFile('Z.md', 'z'), newFile('a/é.md', '')],
      note: 'first',
      by: 'key_1',
    })
    const published = await skills.publish(given)
    assert.equal(published.outcome, 'created')
    const found = await skills.find('greet')
    assert.deepEqual('skill' in published && published.skill, found)
    const facts = { name: 'greet', digest: given.digest, size: 13 + 3 - 2 }
    assert.partialDeepStrictEqual(found, { ...said, ...facts, version: 1, latestVersion: 1 })
    assert.partialDeepStrictEqual(found, { enabled: true, source: { type: 'api' }, revision: 1 })
    assert.match(found?.id ?? '', /^skill_[0-9a-z]{8}$/)
    assert.match(found?.createdAt ?? '', /^\d{4}-.+T.+\.\d{3}Z$/)
    const paths = found?.files.map(({ path }) => path)
    assert.deepEqual(paths, ['SKILL.md', 'Z.md', 'a/é.md', 'b.md'])

    const version = await skills.findVersion('greet', 1)
    assert.partialDeepStrictEqual(version, { ...said, ...facts, note: 'first', by: 'key_1' })
    assert.deepEqual(version?.files, found?.files)
  })

  test('keeps apart no list of tools and an empty one', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('any'))
    await skills.publish(publication('none', { allowedTools: [] }))
    assert.equal((await skills.find('any'))?.allowedTools, null)
    assert.deepEqual((await skills.find('none'))?.allowedTools, [])
  })

  test('knows nothing of what is not there, however it is asked', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet'))
    for (const name of ['nobody', 'constructor', '../greet', 'greet\0', '']) {
      assert.equal(await skills.find(name), undefined)
      assert.equal(await skills.findVersion(name, 1), undefined)
      assert.equal(await skills.readFile(name, 'SKILL.md'), undefined)
      assert.equal(await skills.change(name, { enabled: false }), undefined)
      assert.equal(await skills.remove(name), undefined)
      assert.equal(await skills.removeVersion(name, 1), undefined)
      assert.deepEqual(await skills.versions(name, { limit: 5 }), [])
    }
    for (const version of [0, 2, -1, 1.5, 1e21, Number.NaN]) {
      assert.equal(await skills.findVersion('greet', version), undefined)
      assert.equal(await skills.readFile('greet', 'SKILL.md', version), undefined)
      assert.equal(await skills.removeVersion('greet', version), undefined)
    }
    assert.equal(await skills.readFile('greet', 'a\0b'), undefined)
    assert.equal(await skills.revision(), 1)
  })

  test('adds versions, and writes nothing for the same digest', async (t) => {
    const skills = createSkillStore(await open(t))
    assert.equal(await skills.revision(), 0)
    const outcome = async (body: string, more = {}) =>
      (await skills.publish(publication('greet', { body, ...more }))).outcome

    assert.equal(await outcome('one'), 'created')
    assert.equal(await outcome('one'), 'unchanged')
    assert.equal(await outcome('two'), 'updated')
    assert.equal(await outcome('one', { unchangedIf: 'stored' }), 'unchanged')
    assert.equal((await skills.find('greet'))?.version, 2)
    assert.equal(await outcome('one'), 'updated')
    assert.equal(await outcome('four', { activate: false }), 'updated')
    assert.equal(await outcome('four', { activate: false }), 'unchanged')
    assert.equal(await outcome('one', { activate: false }), 'updated')

    const { version, latestVersion, body } = (await skills.find('greet')) ?? {}
    assert.deepEqual(
      { version, latestVersion, body },
      { version: 3, latestVersion: 5, body: 'one' },
    )
    assert.equal(await skills.revision(), 5)
  })

  test('refuses a name that is taken, when asked to', async (t) => {
    const skills = createSkillStore(await open(t))
    await skills.publish(publication('greet'))
    const again = publication('greet', { body: 'Other.', createOnly: true })
    assert.deepEqual(await skills.publish(again), { outcome: 'exists' })
    assert.equal((await skills.find('greet'))?.body, 'Say hello.')
  })

  test('shows a skill without a current version by its latest', async (t) => {
    const skills = createSkillStore(await open(t))
    const draft = (body: string) => publication('greet', { body, activate: false })
    await skills.publish(draft('one'))
    await skills.publish(draft('two'))
    await skills.publish(draft('three'))
    assert.partialDeepStrictEqual(await skills.find('greet'), {
      version: null,
      latestVersion: 3,
      body: 'three',
    })
    assert.deepEqual((await skills.catalog()).entries, [])

    assert.deepEqual(await skills.removeVersion('greet', 3), { outcome: 'removed' })
    assert.partialDeepStrictEqual(await skills.find('greet'), { latestVersion: 3, body: 'two' })
    assert.equal((await skills.readFile('greet', 'SKILL.md'))?.bytes.toString(), 'two')
    await skills.removeVersion('greet', 1)
    assert.deepEqual(await skills.removeVersion('greet', 2), { outcome: 'current' })

    await skills.publish(publication('greet', { body: 'four' }))
    assert.partialDeepStrictEqual(await skills.find('greet'), { version: 4, body: 'four' })
  })

  test('reads files of any version, byte for byte', async (t) => {
    const skills = createSkillStore(await open(t))
    const odd = { ...newFile('odd.bin', ''), bytes: Uint8Array.of(0, 255, 13, 10, 0), size: 5 }
    await skills.publish(publication('greet', { files: [{ ...odd, sha256: 'odd' }] }))
    await skills.publish(publication('greet', { body: 'two', activate: false }))
    const found = await skills.readFile('greet', 'odd.bin')
    assert.deepEqual(Buffer.from(found?.bytes ?? []), Buffer.from(odd.bytes))
    assert.equal(found?.digest, (await skills.find('greet'))?.digest)
    assert.equal((await skills.readFile('greet', 'SKILL.md', 2))?.bytes.toString(), 'two')
    assert.equal(await skills.readFile('greet', 'odd.bin', 2), undefined)
  })
})
