import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderSkillMd } from '../../src/domain/render-skill-md.ts'
import { AppError } from '../../src/errors.ts'
import { readSkill } from './read-skill.ts'

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/)
const name = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .map((words) => words.join('-'))
  .filter((text) => !/^(con|prn|aux|nul|(com|lpt)[1-9])$/.test(text))

const awkward = fc.constantFrom(
  'true',
  'no',
  'null',
  '~',
  '1.10',
  '007',
  '1e3',
  '0x1F',
  '2024-01-15',
  '- a',
  '? a',
  '# a',
  'a # b',
  'a: b',
  'a:',
  '"a"',
  "'a'",
  '[a',
  '{a',
  '*a',
  '&a',
  '!a',
  '%a',
  '@a',
  '`a',
  '|',
  '>',
  '---',
  '...',
  '<<',
  'a\tb',
  'a\nb',
  ' a',
  'a ',
  '\u2028',
  '\u0085',
  '\u007f',
  '\ufeff',
  '😀',
  '中文',
  '__proto__',
)
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    awkward,
  )
  .filter((value) => !value.includes('\0') && value.isWellFormed())
const description = fc
  .oneof(
    text,
    fc.array(text, { maxLength: 4 }).map((lines) => lines.join('\n')),
  )
  .filter((value) => /[\p{L}\p{N}]/u.test(value))
const tool = fc.stringMatching(/^[A-Za-z_*.-]{1,9}(\([a-z:*, ]{0,9}\))?$/)
const tag = text.filter((value) => value.trim() === value && value !== '' && !value.includes(','))
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}))
const metadata = fc
  .dictionary(text, json.value, { maxKeys: 4 })
  .filter((value) => !Object.hasOwn(value, 'tags') && !Object.hasOwn(value, 'version'))

const unique = <T>(items: readonly T[], keyOf: (item: T) => unknown) =>
  items.filter((item, at) => items.findIndex((other) => keyOf(other) === keyOf(item)) === at)

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary)
const shortText = text.filter((value) => value.trim() !== '')

test('what is rendered from parts reads back as these parts', () => {
  const parts = fc.record({
    name,
    description,
    allowed_tools: maybe(fc.array(tool, { maxLength: 4 })),
    tags: maybe(fc.array(tag, { maxLength: 4 })),
    license: maybe(shortText),
    compatibility: maybe(shortText),
    metadata: maybe(metadata),
    body: fc.string({ unit: 'grapheme' }).filter((value) => !/[\0\r]/.test(value)),
  })
  fc.assert(
    fc.property(parts, (given) => {
      const { skill, errors } = readSkill(renderSkillMd(given))
      assert.ok(skill, JSON.stringify(errors))
      assert.equal(skill.name, given.name)
      assert.equal(skill.description, given.description.trim())
      assert.deepEqual(skill.allowedTools, given.allowed_tools && [...new Set(given.allowed_tools)])
      assert.deepEqual(
        skill.tags,
        unique(given.tags ?? [], (item) => item.toLowerCase()),
      )
      assert.equal(skill.license, given.license?.trim() ?? null)
      assert.equal(skill.compatibility, given.compatibility?.trim() ?? null)
      assert.equal(JSON.stringify(skill.metadata), JSON.stringify(given.metadata ?? {}))
      assert.equal(skill.body, given.body.replace(/^(?:[ \t]*\n)+/, '').replace(/^[ \t\n]*$/, ''))
    }),
    { numRuns: 1000 },
  )
})

test('several lines of description are written as a block that a person can read', () => {
  const text = renderSkillMd({ name: 'a-b', description: 'One.\n\n  Two: three.' })
  assert.equal(text, '---\nname: a-b\ndescription: |-\n  One.\n\n    Two: three.\n---\n')
})

test('what YAML would bend is quoted, the rest is not', () => {
  const text = renderSkillMd({
    name: '12306',
    description: 'Buys tickets (trains). Use when asked.',
    tags: ['yes', 'rail', '1.10'],
    allowed_tools: ['Read', 'Bash(git:*)'],
    metadata: { author: 'someone', since: '2024-01-15', deep: { on: true } },
  })
  assert.equal(
    text,
    '---\nname: "12306"\ndescription: Buys tickets (trains). Use when asked.\n' +
      'allowed-tools: [Read, "Bash(git:*)"]\ntags: ["yes", rail, "1.10"]\nmetadata:\n' +
      '  author: someone\n  since: "2024-01-15"\n  deep: {"on": true}\n---\n',
  )
})

test('a value that is nested without end is refused, not a crash', () => {
  let deep: unknown = []
  for (let level = 0; level < 100_000; level++) deep = [deep]
  const render = () => renderSkillMd({ name: 'a', description: 'b', metadata: { deep } })
  assert.throws(
    render,
    (error) => error instanceof AppError && error.code === 'frontmatter_too_large',
  )
})
