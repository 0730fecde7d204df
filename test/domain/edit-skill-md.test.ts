import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editSkillMd, type SkillEdit } from '../../src/domain/edit-skill-md.ts'
import { file, readSkill } from './read-skill.ts'

function edited(text: string, edit: SkillEdit): string {
  const bytes = editSkillMd(new TextEncoder().encode(text), edit)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

const KEEP = `---
name: keep-keys
description: Old words.
# who to ask
argument-hint: "[file]"
model: small
metadata:
  team:
    lead: someone
---

# Steps

Look in the drawer.
`

test('O24: other keys, their order, quoting and comments and the body stay', () => {
  assert.equal(
    edited(KEEP, { description: 'New words.' }),
    KEEP.replace('Old words.', 'New words.'),
  )
})

test('an edit of nothing changes nothing', () => assert.equal(edited(KEEP, {}), KEEP))

const CASES: [title: string, before: string, edit: SkillEdit, after: string][] = [
  [
    'a comment behind the value stays',
    'a: b # c\ndescription:   old  # why',
    { description: 'new' },
    'a: b # c\ndescription:   new  # why',
  ],
  [
    'quotes come where YAML needs them',
    'description: old',
    { description: 'Use when: asked' },
    'description: "Use when: asked"',
  ],
  [
    'a folded block becomes a line',
    'description: >-\n  old\n\n  words\nmodel: x',
    { description: 'a\nb' },
    'description: "a\\nb"\nmodel: x',
  ],
  [
    'a value on the next line moves up',
    'description:\n  old\n  words\nmodel: x',
    { description: 'new' },
    'description: new\nmodel: x',
  ],
  [
    'an empty value is filled',
    'description:\nlicense: # none yet\nmodel: x',
    { license: 'MIT', description: 'd' },
    'description: d\nlicense: MIT # none yet\nmodel: x',
  ],
  ['a quoted key is found', '"description": old', { description: 'new' }, '"description": new'],
  [
    'a question mark as well',
    '? description\n: old\nmodel: x',
    { description: 'new' },
    '? description\n: new\nmodel: x',
  ],
  [
    'null takes the key and its lines away',
    'license: MIT # free\n# next\nmodel: x',
    { license: null },
    '# next\nmodel: x',
  ],
  [
    'null for what is not there is nothing',
    'model: x',
    { license: null, tags: null, metadata: null },
    'model: x',
  ],
  [
    'what is new comes last',
    'model: x\n\n# end',
    { license: 'MIT', tags: ['a', '1'] },
    'model: x\nlicense: MIT\ntags: [a, "1"]\n\n# end',
  ],
  [
    'what is new comes behind a block text',
    'x: |+\n  text\n\n',
    { license: 'MIT' },
    'x: |+\n  text\n\n\nlicense: MIT',
  ],
  [
    'a list at the left edge is replaced',
    'tags:\n- a\n- b\nmodel: x',
    { tags: ['c'] },
    'tags: [c]\nmodel: x',
  ],
  [
    'a comment above a list stays',
    'tags: # mine\n- a\nmodel: x',
    { tags: [] },
    'tags: # mine\n  []\nmodel: x',
  ],
  [
    'a tag of YAML goes with its value',
    'license: !!str 1\nmodel: x',
    { license: 'b' },
    'license: b\nmodel: x',
  ],
  [
    'the tools are edited where they stand',
    'allowed_tools: Read',
    { allowed_tools: ['Bash(git:*)'] },
    'allowed_tools: ["Bash(git:*)"]',
  ],
  [
    'both spellings of the tools go',
    'allowed_tools: a\nallowed-tools: b\nmodel: x',
    { allowed_tools: null },
    'model: x',
  ],
  ['no tools are an empty list', 'model: x', { allowed_tools: [] }, 'model: x\nallowed-tools: []'],
  [
    'metadata is merged, not replaced',
    'metadata:\n  a: 1 # one\n  b:\n    c: 2\n    d: 3\nmodel: x',
    { metadata: { b: { c: null, e: true }, f: '1.0' } },
    'metadata:\n  a: 1 # one\n  b:\n    d: 3\n    e: true\n  f: "1.0"\nmodel: x',
  ],
  [
    'a mapping that loses its last key is empty, not null',
    'metadata:\n  team:\n    lead: x\nmodel: x',
    { metadata: { team: { lead: null } } },
    'metadata:\n  team: {}\nmodel: x',
  ],
  [
    'metadata in brackets is merged in them',
    'metadata: {"a": {"b": 1, "c": 2}, d: e} # json',
    { metadata: { a: { b: null, x: 'z' }, d: null } },
    'metadata: {"a": {"c": 2, x: z}} # json',
  ],
  [
    'brackets may lose all',
    'metadata: {a: 1, b}',
    { metadata: { a: null, b: null } },
    'metadata: {}',
  ],
  [
    'brackets on several lines keep them',
    'metadata:\n  {\n    "a": 1,\n    "b": 2\n  }',
    { metadata: { c: 3 } },
    'metadata:\n  {\n    "a": 1,\n    "b": 2, c: 3\n  }',
  ],
  [
    'new metadata is a mapping without its nulls',
    'model: x',
    { metadata: { a: { b: null, c: [null] } } },
    'model: x\nmetadata: {a: {c: [null]}}',
  ],
  [
    'tags in the metadata are edited there',
    'metadata:\n  tags: a, b',
    { tags: ['c'] },
    'metadata:\n  tags: [c]',
  ],
  [
    'tags in both places are left in one',
    'tags: [a]\nmetadata:\n  tags: [b]\n  x: y',
    { tags: ['c'] },
    'tags: [c]\nmetadata:\n  x: y',
  ],
  [
    'a repeated key is taken away whole',
    'license: MIT\nmodel: x\nlicense: ISC',
    { license: null },
    'model: x',
  ],
]

for (const [title, before, edit, after] of CASES) {
  test(`edit in place: ${title}`, () => {
    const head = 'name: a-b\n'
    assert.equal(edited(file(head + before), edit), file(head + after))
  })
  test(`edit in place, CRLF and a mark: ${title}`, () => {
    const crlf = (text: string) => `\uFEFF${file(`name: a-b\n${text}`)}`.replaceAll('\n', '\r\n')
    assert.equal(edited(crlf(before), edit), crlf(after))
  })
}

const BODIES: [title: string, before: string, body: string | null, after: string][] = [
  [
    'the blank lines before it stay',
    '---\nname: a\n---\n\n\nold\n',
    'new\n',
    '---\nname: a\n---\n\n\nnew\n',
  ],
  [
    'a file that ends with the fence gets a line',
    '---\nname: a\n---',
    'new',
    '---\nname: a\n---\nnew',
  ],
  ['null empties it', '---\nname: a\n---\n\nold\n', null, '---\nname: a\n---\n\n'],
  [
    'line ends are those of the file',
    '---\r\nname: a\r\n---\r\nold\r\n',
    'x\ny\n',
    '---\r\nname: a\r\n---\r\nx\r\ny\r\n',
  ],
  [
    'a closing line with text keeps off it',
    '---\nname: a\n---# Old',
    '# New',
    '---\nname: a\n---\n# New',
  ],
  [
    'a file without a block keeps what it begins with',
    'old',
    '---\nx\n---\n',
    '---\n---\n\n---\nx\n---\n',
  ],
]

for (const [title, before, body, after] of BODIES) {
  test(`a new body: ${title}`, () => assert.equal(edited(before, { body }), after))
}

test('a file without a block gets one', () => {
  const after = edited('# Title\n', { description: 'Does it. Use when asked.' })
  assert.equal(
    after,
    '---\n---\n\ndescription: Does it. Use when asked.\n'.replace('---\n---\n\n', '---\n') +
      '---\n\n# Title\n',
  )
})

test('broken YAML is repaired before it is edited', () => {
  const after = edited(file('name: a-b\ndescription: Find: things\nmodel: x'), { license: 'MIT' })
  assert.equal(after, file('name: a-b\ndescription: "Find: things"\nmodel: x\nlicense: MIT'))
})

const ENTRIES = [
  'argument-hint: "[file]" # hint',
  '# a comment\nmodel: small',
  'hooks:\n  - a: b\n    c: |\n      text\n\n      more\n\n  - d',
  'paths: {a: [b, c], "d": e}',
  "when: 'it''s\n  two lines'",
  'notes: >+\n  folded\n  text\n\n',
  'empty:',
  '"quoted key": 1.10',
  '? asked\n: answered',
]
const EDITABLE = [
  [
    'description',
    [
      'description: Old.',
      'description: >\n  Old\n  words.\n',
      'description: "Old" # why',
      'description:\n  old',
    ],
  ],
  ['license', ['license: MIT', "license: 'MIT'\n", 'license:']],
  ['tags', ['tags: a, b', 'tags:\n- a\n- b # c', 'tags: [a,\n  b]']],
  ['allowed_tools', ['allowed-tools: Read Write', 'allowed-tools:\n  - Read\n\n  - Bash(git:*)']],
] as const

const textValue = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((value) => /[\p{L}\p{N}]/u.test(value) && !value.includes('\0'))
const listValue = fc.array(fc.stringMatching(/^[A-Za-z]{1,6}$/), { maxLength: 3 })

test('an edit changes what was asked for and no other byte', () => {
  const [described, ...optional] = EDITABLE.map(([, forms]) => fc.constantFrom<string>(...forms))
  assert.ok(described)
  const keys = fc.tuple(described, ...optional.map((forms) => fc.option(forms)))
  const others = fc.shuffledSubarray(ENTRIES)
  const edit = fc.record(
    {
      description: textValue,
      license: fc.option(textValue),
      tags: fc.option(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 3 })),
      allowed_tools: fc.option(listValue),
      body: fc.constantFrom('', 'x', '# New\n\ntext\n'),
    },
    { requiredKeys: [] },
  )
  const lineBreak = fc.constantFrom('\n', '\r\n')
  const mark = fc.constantFrom('', '\uFEFF')
  const order = fc.infiniteStream(fc.nat())
  fc.assert(
    fc.property(
      keys,
      others,
      edit,
      lineBreak,
      mark,
      order,
      (written, kept, change, eol, bom, random) => {
        const entries = [...kept, ...written.filter((form) => form !== null)]
          .map((entry) => ({ entry, at: random.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry)
        const toRaw = (text: string) => text.replaceAll('\n', eol)
        const before = bom + toRaw(file(['name: a-b', ...entries].join('\n'), '\nold body\n'))
        const after = edited(before, change)

        const was = readSkill(before, 'lenient').skill
        const { skill, errors } = readSkill(after, 'lenient')
        assert.ok(skill && was, JSON.stringify(errors))
        const wanted = {
          ...was,
          ...(change.description !== undefined && { description: change.description.trim() }),
          ...(change.license !== undefined && { license: change.license?.trim() ?? null }),
          ...(change.tags !== undefined && { tags: change.tags ?? [] }),
          ...(change.allowed_tools !== undefined && {
            allowedTools: change.allowed_tools && [...new Set(change.allowed_tools)],
          }),
          ...(change.body !== undefined && { body: change.body }),
        }
        assert.deepEqual(skill, wanted)

        let rest = after
        for (const entry of kept.toSorted((a, b) => entries.indexOf(a) - entries.indexOf(b))) {
          const at = rest.indexOf(toRaw(entry))
          assert.ok(at >= 0, `${entry} is not in ${after}`)
          rest = rest.slice(at + toRaw(entry).length)
        }
        assert.ok(after.startsWith(`${bom}---${eol}name: a-b${eol}`))
        if (change.body === undefined) assert.ok(after.endsWith(toRaw('\n---\n\nold body\n')))
        assert.equal(after.replaceAll(eol, '').match(/[\r\n]/), null)
      },
    ),
    { numRuns: 1000 },
  )
})

const json = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd e', '__proto__', 'yes'), tie('value'), {
    maxKeys: 4,
  }),
  value: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.constant(null),
    fc.array(tie('leaf'), { maxLength: 2 }),
    tie('object'),
  ),
}))
type Json = Record<string, unknown>

function merge(target: unknown, patch: unknown): unknown {
  const isObject = (value: unknown): value is Json =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key)
    else result.set(key, merge(result.get(key), value))
  }
  return Object.fromEntries(result)
}

const toBlock = (value: unknown, indent: string): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return ` ${JSON.stringify(value)}`
  const entries = Object.entries(value)
  if (entries.length === 0) return ' {}'
  return entries
    .map(([key, item]) => `\n${indent}${JSON.stringify(key)}:${toBlock(item, `${indent}  `)}`)
    .join('')
}

test('metadata is merged as RFC 7396 says, in blocks as in brackets', () => {
  fc.assert(
    fc.property(json.object, json.object, fc.boolean(), (target, patch, flow) => {
      const value = flow ? ` ${JSON.stringify(target)}` : toBlock(target, '  ')
      const before = file(`name: a-b\ndescription: d\nmetadata:${value}\nmodel: x`)
      const after = edited(before, { metadata: patch as Json })
      const { skill, errors } = readSkill(after)
      assert.ok(skill, `${JSON.stringify(errors)}\n${after}`)
      const sorted = (map: unknown) => JSON.stringify(map)
      assert.deepEqual(
        JSON.parse(sorted(skill.metadata)),
        JSON.parse(sorted(merge(target, patch))),
        after,
      )
      assert.ok(
        after.startsWith('---\nname: a-b\ndescription: d\nmetadata:') &&
          after.includes('\nmodel: x\n---\n'),
      )
    }),
    { numRuns: 1000 },
  )
})
