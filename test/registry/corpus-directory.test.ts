import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { NAME_PATTERN } from '../../src/domain/skill.ts'
import { buildTestApp, get } from '../build-app.ts'
import { tempFolder } from '../temp-folder.ts'

const CORPUS = new URL('../../../shared/corpus/', import.meta.url)

interface Row {
  path: string
  class: string
  expect: {
    strict: 'ok' | 'error'
    name?: string | null
    codes_alt?: string[]
    lenient: {
      result?: 'ok' | 'error' | 'either'
      name?: string
      codes?: string[]
      codes_alt?: string[]
      warnings?: string[]
    }
  }
}

interface Skill {
  name: string
  source: { folder: string }
  warnings: { code: string }[]
}

const missing = !existsSync(new URL('index.json', CORPUS))
const skip = missing && !process.env.CI ? `${CORPUS.pathname} is not there` : false

const VALID = new RegExp(NAME_PATTERN)
const isName = (name: string | null | undefined): name is string =>
  typeof name === 'string' && name.length <= 64 && VALID.test(name)

const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** A folder for each file: its name, else, and for the second of a name, that of the corpus folder. */
function foldersOf(rows: readonly Row[]): Map<string, Row> {
  const folders = new Map<string, Row>()
  for (const row of rows) {
    const { name } = row.expect
    const folder = isName(name) && !folders.has(name) ? name : slugOf(dirname(row.path))
    assert.ok(!folders.has(folder), folder)
    folders.set(folder, row)
  }
  return folders
}

test('the whole corpus goes through the skills directory', { skip, timeout: 60_000 }, async (t) => {
  const rows: Row[] = JSON.parse(readFileSync(new URL('index.json', CORPUS), 'utf8'))
  const folders = foldersOf(rows)
  const root = join(await tempFolder(t), 'skills')
  for (const [folder, { path }] of folders) {
    await mkdir(join(root, folder), { recursive: true })
    await writeFile(join(root, folder, 'SKILL.md'), readFileSync(new URL(path, CORPUS)))
  }
  const app = await buildTestApp(t, { env: { SKILLS_DIR: root } })

  const stored = new Map<string, Skill>()
  for (let next: string | null = ''; next !== null; ) {
    const query: string = next === '' ? '' : `&cursor=${next}`
    const page = (await get(app, `/skills?limit=100${query}`)).json()
    for (const skill of page.data) stored.set(skill.source.folder, skill)
    next = page.next_cursor ?? null
  }
  const ready = (await app.inject('/ready')).json().parts.skills_directory.skipped
  const skipped = new Map<string, { code: string; reason: string }>()
  for (const { path, ...why } of ready) skipped.set(path.replace(/\/SKILL\.md$/, ''), why)
  assert.equal(stored.size + skipped.size, rows.length)

  const names = new Set([...stored.values()].map(({ name }) => name))
  for (const [folder, { path, expect }] of folders) {
    const { lenient } = expect
    const skill = stored.get(folder)
    const { code = '', reason = '' } = skipped.get(folder) ?? {}
    await t.test(path, async () => {
      if (!skill) {
        if (code === 'name_conflict') {
          assert.ok(names.has(/named "(.*)"/.exec(reason)?.[1] ?? ''), reason)
          return
        }
        assert.notEqual(lenient.result, 'ok', code)
        const fits = [...(lenient.codes ?? []), ...(lenient.codes_alt ?? []), 'frontmatter_yaml']
        assert.ok(fits.includes(code), `${fits} but ${code}`)
        return
      }
      // A folder gives the name that an empty block lacks.
      const nameless = lenient.codes_alt?.includes('name_missing')
      assert.ok(nameless || lenient.result !== 'error', `${lenient.codes} but stored`)
      const codes = skill.warnings.map((warning) => warning.code)
      for (const warning of lenient.warnings ?? []) assert.ok(codes.includes(warning), warning)
      if (expect.strict === 'ok') assert.equal(skill.name, expect.name)
      const { rawPayload } = await get(app, `/skills/${skill.name}/content`)
      assert.ok(rawPayload.equals(readFileSync(new URL(path, CORPUS))), 'other bytes')
    })
  }

  await t.test('lints are no noise', () => {
    const formed = [...folders].filter(([, { expect }]) => expect.strict === 'ok')
    const warned = (code: string) =>
      formed.flatMap(([folder]) => {
        const skill = stored.get(folder)
        return skill?.warnings.some((warning) => warning.code === code) ? [skill.name] : []
      })
    for (const code of ['hidden_unicode', 'secret_suspected']) {
      assert.ok(warned(code).length <= formed.length / 20, `${code}: ${warned(code)}`)
    }
    assert.ok(warned('similar_to').length <= formed.length / 50, `${warned('similar_to')}`)
    // Names of tools that this service does not have, in those that name tools at all.
    assert.ok(warned('unknown_tool').length <= formed.length / 10, `${warned('unknown_tool')}`)
  })
})
