import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Diagnostics, type Mode } from '../../src/domain/diagnostics.ts'
import { parseSkillMd } from '../../src/domain/skill-md.ts'
import { AppError } from '../../src/errors.ts'

const FOLDER = new URL('../../../shared/corpus/', import.meta.url)

interface Expected {
  result?: string
  codes?: string[]
  codes_alt?: string[]
  warnings?: string[]
  query?: { name: string }
  name?: string | null
  description?: string
  description_length?: number | null
  description_contains?: string
  description_length_single_line?: number
  allowed_tools?: string[] | null
}

interface Row {
  path: string
  class: string
  expect: Expected & {
    strict: 'ok' | 'error'
    lenient: Expected
    line?: number
    tags?: string[]
    tags_unsettled?: unknown
    allowed_tools_unsettled?: unknown
    keys?: string[]
    license?: string
    declared_version?: string
    body_lines?: number
    lint?: string[]
  }
}

const missing = !existsSync(new URL('index.json', FOLDER))
const skip = missing && !process.env.CI ? `${FOLDER.pathname} is not there` : false
const rows: Row[] = missing ? [] : JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8'))

function parse(path: string, mode: Mode, name?: string) {
  const diagnostics = new Diagnostics('SKILL.md', mode)
  const bytes = readFileSync(new URL(path, FOLDER))
  try {
    const skill = parseSkillMd(bytes, diagnostics, { name })
    return {
      skill,
      diagnostics,
      warnings: diagnostics.warnings.map(({ code }) => code),
      errors: [],
    }
  } catch (error) {
    assert.ok(error instanceof AppError, `${path}: ${error}`)
    const errors = diagnostics.errors.map(({ code }) => code)
    const warnings = diagnostics.warnings.map(({ code }) => code)
    return { skill: undefined, diagnostics, warnings, errors }
  }
}

const includes = (found: readonly string[], wanted: readonly string[] = []) =>
  wanted.every((code) => found.includes(code))

const lengthOf = (text: string) => [...text].length

test('the corpus is there', { skip }, () => assert.ok(rows.length > 400))

test('every file of the corpus reads strictly as its index says', { skip }, async (t) => {
  for (const { path, expect } of rows) {
    await t.test(path, () => {
      const { skill, diagnostics, errors, warnings } = parse(path, 'strict')
      const alternatives = expect.codes_alt ?? []
      assert.ok(includes(warnings, expect.lint), `lint ${expect.lint}: ${warnings}`)
      if (expect.strict === 'error') {
        const fits =
          includes(errors, expect.codes) ||
          alternatives.some((code) => errors.includes(code as never))
        // An empty block is no mapping to the index; the contract says that both keys are missing.
        assert.ok(fits, `${expect.codes} but ${errors.join()}`)
        if (expect.line !== undefined) assert.equal(diagnostics.errors[0]?.line, expect.line)
        return
      }
      if (!skill && alternatives.some((code) => errors.includes(code as never))) return
      assert.ok(skill, diagnostics.errors[0]?.message)
      assert.equal(skill.name, expect.name)
      assert.equal(lengthOf(skill.description), expect.description_length)
      if (!expect.allowed_tools_unsettled) {
        assert.deepEqual(skill.allowedTools, expect.allowed_tools)
      }
      if (!expect.tags_unsettled) assert.deepEqual(skill.tags, expect.tags)
      assert.equal(skill.license, expect.license ?? null)
      if (expect.declared_version) assert.equal(skill.declaredVersion, expect.declared_version)
      const held = [
        'name',
        'description',
        'tags',
        'allowed-tools',
        'allowed_tools',
        'license',
        'compatibility',
        'metadata',
        'version',
      ]
      for (const key of expect.keys ?? []) assert.ok(held.includes(key) || key in skill.extra, key)
      // The index counts the blank lines between the block and the body, which are no part of it.
      const { length } = skill.body.trimEnd().split('\n')
      const counted = expect.body_lines ?? length
      assert.ok(length <= counted && counted <= length + 4, `${length} lines but ${counted}`)
    })
  }
})

test('every file of the corpus reads leniently as its index says', { skip }, async (t) => {
  for (const { path, expect } of rows) {
    const { lenient } = expect
    await t.test(path, () => {
      const { skill, errors, warnings } = parse(path, 'lenient', lenient.query?.name)
      if (!skill) {
        assert.notEqual(lenient.result, 'ok', errors.join())
        const fits = [...(lenient.codes ?? []), ...(lenient.codes_alt ?? []), 'frontmatter_yaml']
        assert.ok(
          errors.some((code) => fits.includes(code)),
          `${fits} but ${errors.join()}`,
        )
        return
      }
      assert.notEqual(lenient.result, 'error', `${lenient.codes} but read`)
      assert.ok(includes(warnings, lenient.warnings), `${lenient.warnings} but ${warnings}`)
      if (lenient.name !== undefined) assert.equal(skill.name, lenient.name)
      if (lenient.description !== undefined) assert.equal(skill.description, lenient.description)
      const length = lenient.description_length ?? lenient.description_length_single_line
      if (length !== undefined) assert.equal(lengthOf(skill.description), length)
      if (lenient.allowed_tools !== undefined) {
        assert.deepEqual(skill.allowedTools, lenient.allowed_tools)
      }
      if (lenient.description_contains !== undefined) {
        assert.ok(skill.description.includes(lenient.description_contains), skill.description)
      }
    })
  }
})

test('few well-formed files are suspected of secrets or hidden text', { skip }, () => {
  const formed = rows.filter(({ expect }) => expect.strict === 'ok')
  for (const code of ['hidden_unicode', 'secret_suspected']) {
    const warned = formed.filter(({ path }) => parse(path, 'strict').warnings.includes(code))
    assert.ok(warned.length <= formed.length / 20, `${code}: ${warned.map(({ path }) => path)}`)
  }
})
