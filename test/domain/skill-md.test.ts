import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Mode } from '../../src/domain/diagnostics.ts'
import type { NameSources } from '../../src/domain/name.ts'
import type { Skill } from '../../src/domain/skill.ts'
import { codes, faults, file, readSkill } from './read-skill.ts'

const ID = 'name: a-b\ndescription: Finds things. Use when asked.'
const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  )

interface Outcome {
  /** Codes of the errors, or what the skill is. */
  is: string[] | Partial<Skill>
  warns?: string[]
  line?: number
  field?: string
  says?: RegExp
}

interface Row {
  title: string
  given: string | Uint8Array
  sources?: NameSources
  strict: Outcome
  /** The same as strict where it is left out. */
  lenient?: Outcome
}

function check({ given, sources }: Row, mode: Mode, outcome: Outcome) {
  const { skill, errors, warnings, error } = readSkill(given, mode, sources)
  const { is, warns = [], line, field, says } = outcome
  if (Array.isArray(is)) {
    assert.deepEqual(codes(errors), is)
    assert.equal(error?.code, is[0])
  } else {
    assert.deepEqual(codes(errors), [])
    assert.deepEqual({ ...skill, ...is }, skill)
  }
  assert.deepEqual(faults(warnings), warns)
  const [fault] = [...errors, ...warnings.filter(({ code }) => warns.includes(code))]
  if (line !== undefined) assert.equal(fault?.line, line)
  if (field !== undefined) assert.equal(fault?.field, field)
  if (says) assert.match(fault?.message ?? '', says)
}

function table(title: string, rows: Row[]) {
  for (const row of rows) {
    test(`${title}, strict: ${row.title}`, () => check(row, 'strict', row.strict))
    test(`${title}, lenient: ${row.title}`, () => check(row, 'lenient', row.lenient ?? row.strict))
  }
}

table('loader', [
  {
    title: 'T1 a block text is the description',
    given:
      '---\nname: code-review\ndescription: |\n  Review code for bugs, regressions,\n  and missing tests.\n---\n\nMARKER body\n',
    strict: {
      is: {
        name: 'code-review',
        description: 'Review code for bugs, regressions,\nand missing tests.',
        body: 'MARKER body\n',
      },
    },
  },
  {
    title: 'T2 Chinese is read as it stands',
    given: '---\nname: chinese-skill\ndescription: 处理中文内容\n---\n\n# 步骤\n',
    strict: { is: { name: 'chinese-skill', description: '处理中文内容', body: '# 步骤\n' } },
  },
  {
    title: 'T4 a first line of text is no block',
    given: '---not frontmatter\n---\n# Body\n',
    sources: { name: 'text' },
    strict: { is: ['frontmatter_missing'], line: 1 },
    lenient: {
      is: {
        name: 'text',
        description: '---not frontmatter',
        body: '---not frontmatter\n---\n# Body\n',
      },
      warns: ['frontmatter_missing', 'name_missing', 'description_missing'],
    },
  },
  {
    title: 'T5 an indented line of dashes closes nothing',
    given: '---\nname: a\ndescription: |\n  before\n  ---\n  after\n---\n# Body\n',
    strict: { is: { description: 'before\n---\nafter', body: '# Body\n' } },
  },
  {
    title: 'T5 with CRLF',
    given: '---\r\nname: a\r\ndescription: |\r\n  before\r\n  ---\r\n  after\r\n---\r\n# Body\r\n',
    strict: { is: { description: 'before\n---\nafter', body: '# Body\n' } },
  },
  {
    title: 'T6 empty keys',
    given: '---\nname:\ndescription:\n---\n# Body description\n',
    sources: { name: 'fallback-skill' },
    strict: { is: ['name_missing', 'description_missing'], line: 2, field: 'name' },
    lenient: {
      is: { name: 'fallback-skill', title: null, description: 'Body description' },
      warns: ['name_missing', 'description_missing'],
    },
  },
  {
    title: 'T7 a name and nothing else',
    given: '---\nname: only\n---\n',
    strict: { is: ['description_missing'] },
  },
  {
    title: 'T8 lists where texts belong',
    given: '---\nname: [bad]\ndescription: [bad]\n---\n# Typed fallback\n',
    sources: { folder: 'from-folder' },
    strict: { is: ['name_not_string', 'description_not_string'] },
    lenient: {
      is: {
        name: 'from-folder',
        description: 'Typed fallback',
        extra: { name: ['bad'], description: ['bad'] },
      },
      warns: ['name_not_string', 'description_not_string'],
    },
  },
  {
    title: 'T10 a list as frontmatter',
    given: '---\n- a\n- b\n---\nx\n',
    strict: { is: ['frontmatter_not_mapping'], line: 2, says: /a list.*key: value/ },
  },
])

const fixed = {
  name: 'a-b',
  description: 'Finds things. Use when asked.',
  body: '# Steps\n\nLook in the drawer.\n',
}

table('frontmatter', [
  {
    title: 'one mark and blanks behind the fences are taken',
    given: `\uFEFF---  \n${ID}\n---\t\n\n \n# Steps\n\nLook in the drawer.\n`,
    strict: { is: fixed },
  },
  { title: 'CR alone ends lines', given: file(ID).replaceAll('\n', '\r'), strict: { is: fixed } },
  {
    title: 'a second mark is text',
    given: `\uFEFF\uFEFF${file(ID)}`,
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: ['name_missing'],
      warns: ['frontmatter_missing', 'description_missing', 'hidden_unicode'].toSorted(
        (a, b) =>
          ['frontmatter_missing', 'hidden_unicode', 'description_missing'].indexOf(a) -
          ['frontmatter_missing', 'hidden_unicode', 'description_missing'].indexOf(b),
      ),
    },
  },
  {
    title: 'a missing block falls back to the folder',
    given: '\n# Do it\n',
    sources: { folder: 'Über Café' },
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: { name: 'uber-cafe', description: 'Do it' },
      warns: ['frontmatter_missing', 'name_missing', 'description_missing'],
    },
  },
  {
    title: 'a missing block falls back to the file name',
    given: '# Do it',
    sources: { fileName: 'do-it.md' },
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: { name: 'do-it' },
      warns: ['frontmatter_missing', 'name_missing', 'description_missing'],
    },
  },
  {
    title: 'SKILL.md names no skill',
    given: '# Do it',
    sources: { fileName: 'SKILL.md' },
    strict: { is: ['frontmatter_missing'] },
    lenient: { is: ['name_missing'], warns: ['frontmatter_missing', 'description_missing'] },
  },
  {
    title: 'an empty file',
    given: '',
    strict: { is: ['frontmatter_missing'] },
    lenient: { is: ['name_missing', 'description_missing'], warns: ['frontmatter_missing'] },
  },
  {
    title: 'keys without an opening line',
    given: 'name: a\ndescription: b\n---\nx',
    sources: { name: 'q' },
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: { name: 'q', description: 'name: a' },
      warns: ['frontmatter_missing', 'name_missing', 'description_missing'],
    },
  },
  {
    title: 'blank lines before the block',
    given: `\n\n${file(ID)}`,
    strict: { is: ['frontmatter_not_first'], line: 3, says: /blank lines.*line 1/ },
    lenient: { is: fixed, warns: ['frontmatter_not_first'], line: 3 },
  },
  {
    title: 'a comment of two lines before the block',
    given: `<!-- a\n--> <!-- b -->\n${file(ID)}`,
    strict: { is: ['frontmatter_not_first'], line: 3, says: /HTML comment/ },
    lenient: { is: fixed, warns: ['frontmatter_not_first'] },
  },
  {
    title: 'a heading before the block',
    given: `# A\n${file(ID)}`,
    strict: { is: ['frontmatter_not_first'], line: 2, says: /a heading/ },
  },
  {
    title: 'an open comment before the block',
    given: `<!-- a\n${file(ID)}`,
    strict: { is: ['frontmatter_not_first'] },
  },
  {
    title: 'a rule in a text without a block',
    given: 'a\n---\nb\n---\n',
    sources: { name: 'x' },
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: { description: 'a' },
      warns: ['frontmatter_missing', 'name_missing', 'description_missing'],
    },
  },
  {
    title: 'never closed',
    given: `---\n${ID}\n\n# Steps\n`,
    strict: { is: ['frontmatter_unterminated'], line: 1 },
  },
  {
    title: 'closed by a line with text',
    given: `---\n${ID}\n---# Title\n\ntext`,
    strict: { is: ['frontmatter_unterminated'] },
    lenient: { is: { body: '# Title\n\ntext' }, warns: ['frontmatter_unterminated'], line: 1 },
  },
  { title: 'only an opening line', given: '---', strict: { is: ['frontmatter_unterminated'] } },
  ...[
    '---js',
    '--- JavaScript',
    '---json',
    '---toml',
    '---constructor',
    '---__proto__',
    '--- yaml ',
  ].map((line) => ({
    title: line,
    given: `${line}\n${ID}\n---\n`,
    strict: { is: ['frontmatter_language'], line: 1, says: /only YAML/ },
  })),
  ...['----', '---{}', '--- # c', '--- two words', '---# Title'].map((line) => ({
    title: `text: ${line}`,
    given: `${line}\n${ID}\n---\n`,
    strict: { is: ['frontmatter_missing'] },
    lenient: { is: ['name_missing'], warns: ['frontmatter_missing', 'description_missing'] },
  })),
  {
    title: 'a key that begins with dashes',
    given: `---\n${ID}\n---note: kept\n---\nx`,
    strict: { is: { extra: { '---note': 'kept' } } },
  },
  {
    title: 'dashes in a value, rules in the body',
    given: '---\nname: a\ndescription: a---b --- c\n---\n\n---\n\nx\n---',
    strict: { is: { description: 'a---b --- c', body: '---\n\nx\n---' } },
  },
  {
    title: 'an empty block',
    given: '---\n---\nx',
    strict: { is: ['name_missing', 'description_missing'] },
    lenient: { is: ['name_missing'], warns: ['description_missing'] },
  },
  {
    title: 'a block of comments',
    given: '---\n# c\n\n# d\n---\nx',
    sources: { name: 'x' },
    strict: { is: ['name_missing', 'description_missing'] },
    lenient: { is: { name: 'x' }, warns: ['name_missing', 'description_missing'] },
  },
  {
    title: 'a scalar',
    given: '---\njust text\n---\n',
    strict: { is: ['frontmatter_not_mapping'] },
  },
  { title: 'null', given: '---\n~\n---\n', strict: { is: ['frontmatter_not_mapping'] } },
  {
    title: 'over 16 KiB',
    given: file(`${ID}\nx: ${'y'.repeat(16 * 1024)}`),
    strict: { is: ['frontmatter_too_large'], says: /16\d\d\d bytes, of 16384/ },
  },
  {
    title: 'over 256 keys',
    given: file(`${ID}\nx: {${Array.from({ length: 254 }, (_, key) => `k${key}: 1`)}}`),
    strict: { is: ['frontmatter_too_large'], line: 4, says: /256 keys/ },
  },
  {
    title: '256 keys',
    given: file(`${ID}\nx: {${Array.from({ length: 253 }, (_, key) => `k${key}: 1`)}}`),
    strict: { is: {} },
  },
  ...[
    ['brackets', '['.repeat(2000)],
    ['dashes', '- '.repeat(2000)],
    ['maps', '{a: '.repeat(2000)],
    ['question marks', '\n? '.repeat(17).replaceAll('\n', ' ')],
  ].map(([title, deep]) => ({
    title: `nested in ${title}`,
    given: file(`${ID}\nx:\n  ${deep}`),
    strict: { is: ['frontmatter_too_large'], says: /16 levels/ },
  })),
  {
    title: '16 levels',
    given: file(`${ID}\nx: ${'['.repeat(15)}${']'.repeat(15)}`),
    strict: { is: {} },
  },
  {
    title: '17 levels',
    given: file(`${ID}\nx: ${'['.repeat(16)}${']'.repeat(16)}`),
    strict: { is: ['frontmatter_too_large'] },
  },
])

const REPAIRED: [title: string, line: string, field: string, value: unknown, says: RegExp][] = [
  [
    'a colon in a value',
    'notes: Use when: asked',
    'notes',
    'Use when: asked',
    /"notes" holds ": " and must be quoted/,
  ],
  ['a colon at its end', 'notes: Use when:', 'notes', 'Use when:', /must be quoted/],
  ['a quoted word first', 'notes: "Big" words', 'notes', '"Big" words', /begins with '"'/],
  [
    'a star first',
    'notes: **bold** words',
    'notes',
    '**bold** words',
    /begins with "\*" and must be quoted/,
  ],
  ['a star alone', 'notes: *all', 'notes', '*all', /begins with "\*"/],
  ['an at sign first', 'notes: @someone', 'notes', '@someone', /begins with "@"/],
  ['a backtick first', 'notes: `code` first', 'notes', '`code` first', /begins with '`'/],
  ['a percent sign first', 'notes: %d of them', 'notes', '%d of them', /begins with "%"/],
  ['a tab before a nested key', 'notes:\n\ta: b', 'notes', { a: 'b' }, /tab/],
  ['a tab before a text', 'notes:\n\ttext', 'notes', 'text', /tab/],
  [
    'a line that is not indented',
    'notes: one\ntwo words\n\nthree',
    'notes',
    'one two words\nthree',
    /indent/,
  ],
  [
    'quotes that go on at the edge',
    'notes: "one\ntwo: 2\n----\nthree"\nx: y',
    'notes',
    'one two: 2 ---- three',
    /./,
  ],
  [
    'a nested value',
    'notes:\n  - a: b: c\n  - *d',
    'notes',
    [{ a: 'b: c' }, '*d'],
    /must be quoted/,
  ],
  [
    'arguments in brackets',
    'argument-hint: [file] [mode]',
    'argument-hint',
    '[file] [mode]',
    /begins with "\["/,
  ],
]

for (const [title, lines, field, value, says] of REPAIRED) {
  const given = file(`${ID}\n${lines}`)
  test(`frontmatter_yaml, strict: ${title}`, () => {
    const { errors } = readSkill(given)
    assert.ok(codes(errors).includes('frontmatter_yaml'))
    assert.ok(errors.every((fault) => (fault.line ?? 0) >= 4 && (fault.column ?? 0) > 0))
    assert.equal(errors[0]?.field, field)
    assert.match(errors[0]?.message ?? '', says)
  })
  test(`frontmatter_yaml, lenient: ${title}`, () => {
    const { skill, warnings, errors } = readSkill(given, 'lenient')
    assert.deepEqual(skill?.extra[field], value, JSON.stringify(errors))
    const told = warnings.filter(({ code }) => code === 'frontmatter_yaml')
    assert.ok(told.length > 0 && told.every((fault) => (fault.line ?? 0) >= 4))
    assert.equal(skill?.name, 'a-b')
  })
}

table('YAML', [
  {
    title: 'a tab before the next key',
    given: '---\nname: a\n\tdescription: b\n---\n',
    strict: { is: ['frontmatter_yaml'], line: 3, says: /tab/ },
    lenient: { is: { name: 'a', description: 'b' }, warns: ['frontmatter_yaml'] },
  },
  {
    title: 'O01 a colon names line 3 and the field',
    given: '---\nname: shed-finder\ndescription: Find things: rakes\n---\nx',
    strict: { is: ['frontmatter_yaml'], line: 3, field: 'description' },
    lenient: { is: { description: 'Find things: rakes' }, warns: ['frontmatter_yaml'], line: 3 },
  },
  {
    title: 'two faults are told together',
    given: '---\nname: a\ndescription: b: c\nnotes: @d\n---\nx',
    strict: { is: ['frontmatter_yaml', 'frontmatter_yaml'], line: 3 },
    lenient: {
      is: { description: 'b: c', extra: { notes: '@d' } },
      warns: ['frontmatter_yaml', 'frontmatter_yaml'],
    },
  },
  {
    title: 'O09 an open bracket',
    given: file(`${ID}\nx: [unfinished`),
    strict: { is: ['frontmatter_yaml'], line: 4, field: 'x', says: /"\]"/ },
  },
  {
    title: 'a bad escape',
    given: file(`${ID}\nx: "\\d"`),
    strict: { is: ['frontmatter_yaml'], line: 4, says: /single quotes/ },
  },
  {
    title: 'text behind a block sign',
    given: file(`${ID}\nx: > text`),
    strict: { is: ['frontmatter_yaml'], line: 4, says: /next line/ },
  },
  {
    title: 'a second document',
    given: file(`${ID}\n...\nname: evil`),
    strict: { is: ['frontmatter_yaml'], says: /second YAML document/ },
  },
  {
    title: 'a directive',
    given: file(`%YAML 1.1\n--- # c\n${ID}`),
    strict: { is: ['frontmatter_yaml'] },
  },
  {
    title: 'an unknown tag',
    given: file(`${ID}\nx: !env HOME`),
    strict: { is: ['frontmatter_yaml'], line: 4, says: /"!"/ },
  },
  {
    title: 'bytes by a tag',
    given: '---\nname: !!binary ZGVtbw==\ndescription: x\n---\n',
    strict: { is: ['frontmatter_yaml'], line: 2 },
  },
  {
    title: 'a control character',
    given: file(`${ID}\nx: a\u0007b`),
    strict: { is: ['frontmatter_yaml'], line: 4, says: /control character/ },
    lenient: { is: { extra: { x: 'a\u0007b' } }, warns: ['frontmatter_yaml'], line: 4 },
  },
  {
    title: 'a key that is a list',
    given: file(`${ID}\n? [a]\n: b`),
    strict: { is: ['frontmatter_yaml'], says: /a key must be text/ },
    lenient: {
      is: { description: 'Finds things. Use when asked. ? [a]' },
      warns: ['frontmatter_yaml'],
    },
  },
  {
    title: 'an anchor',
    given: file(`${ID}\nx: &y z`),
    strict: { is: ['frontmatter_alias'], line: 4, says: /write the value out/ },
  },
  {
    title: 'an anchor and its alias',
    given: file(`${ID}\nx: &y [z]\nw: *y`),
    strict: { is: ['frontmatter_alias'], line: 4 },
  },
  {
    title: 'an anchor in itself',
    given: file(`${ID}\nmetadata: &m\n  self: *m`),
    strict: { is: ['frontmatter_alias'] },
  },
  {
    title: 'a merge key',
    given: file(`${ID}\n<<: {name: evil}`),
    strict: { is: ['frontmatter_alias'], says: /"<<"/ },
  },
  {
    title: 'a quoted merge key is a key',
    given: file(`${ID}\n"<<": x`),
    strict: { is: { extra: { '<<': 'x' } } },
  },
  {
    title: 'O13 a repeated key',
    given: '---\nname: twice\ndescription: The first one.\ndescription: The second one.\n---\nbody',
    strict: { is: ['frontmatter_duplicate_key'], line: 4, field: 'description' },
    lenient: {
      is: { description: 'The first one.' },
      warns: ['frontmatter_duplicate_key'],
      line: 4,
    },
  },
  {
    title: 'a repeated key far inside',
    given: file(`${ID}\nmetadata:\n  a: [{b: 1, b: 2}]`),
    strict: { is: ['frontmatter_duplicate_key'], line: 5, field: 'metadata' },
    lenient: { is: { metadata: { a: [{ b: 1 }] } }, warns: ['frontmatter_duplicate_key'] },
  },
  {
    title: 'a repeated key hides no other fault',
    given: '---\nname: A B\nx: 1\nx: 2\n---\nb',
    strict: { is: ['frontmatter_duplicate_key', 'name_invalid', 'description_missing'] },
    lenient: {
      is: { name: 'a-b', title: 'A B' },
      warns: ['frontmatter_duplicate_key', 'name_invalid', 'description_missing'],
    },
  },
  {
    title: 'half a character by an escape',
    given: file(`${ID}\nx: "\\ud800"`),
    strict: { is: ['lone_surrogate'], line: 4 },
  },
  {
    title: 'NUL by an escape',
    given: file(`${ID}\nx: {"\\0": 1}`),
    strict: { is: ['nul_byte'], line: 4 },
  },
])

table('encoding', [
  {
    title: 'O15 GBK',
    given: bytesOf('---\nname: tea-notes\ndescription: Tea ', [0xb2, 0xe8], ' notes\n---\n'),
    strict: { is: ['encoding_not_utf8'], says: /not UTF-8: save it as UTF-8/ },
  },
  {
    title: 'UTF-16 with a mark',
    given: bytesOf([0xff, 0xfe], [45, 0, 45, 0, 45, 0]),
    strict: { is: ['encoding_not_utf8'], says: /UTF-16/ },
  },
  {
    title: 'UTF-16 without one',
    given: bytesOf([45, 0, 45, 0, 45, 0, 10, 0]),
    strict: { is: ['encoding_not_utf8'], says: /UTF-16/ },
  },
  { title: 'NUL', given: file(`${ID}\nx: a\0b`), strict: { is: ['nul_byte'] } },
])

test('a byte that is no text is found by its offset, marks and real U+FFFD aside', () => {
  const cases: [Uint8Array, number][] = [
    [bytesOf([0xb2]), 0],
    [bytesOf('a\uFFFDb', [0xe8, 0x41]), 5],
    [bytesOf('\uFEFFab', [0xf0, 0x9f, 0x98]), 5],
    [bytesOf('ab\uFFFD', [0xed, 0xa0, 0x80]), 5],
  ]
  for (const [bytes, offset] of cases) assert.equal(readSkill(bytes).errors[0]?.offset, offset)
  assert.equal(readSkill('\uFEFF--\0').errors[0]?.offset, 5)
})

table('name', [
  {
    title: 'quoted',
    given: '---\nname: "a-1"\ndescription: d\n---\nx',
    strict: { is: { name: 'a-1', title: null } },
  },
  {
    title: 'blank',
    given: '---\nname: "  \u200b"\ndescription: d\n---\nx',
    sources: { name: 'q' },
    strict: { is: ['name_missing'], warns: ['hidden_unicode'] },
    lenient: { is: { name: 'q' }, warns: ['hidden_unicode', 'name_missing'] },
  },
  {
    title: 'O12 a number',
    given: '---\nname: 12306\ndescription: d\n---\nx',
    strict: { is: ['name_not_string'], line: 2, field: 'name', says: /number.*quote it.*"12306"/ },
    lenient: { is: { name: '12306' }, warns: ['name_not_string'] },
  },
  {
    title: 'a number that YAML bends',
    given: '---\nname: 1.10\ndescription: d\n---\nx',
    strict: { is: ['name_not_string', 'name_invalid'] },
    lenient: { is: { name: '1-10', title: '1.10' }, warns: ['name_not_string', 'name_invalid'] },
  },
  {
    title: 'true',
    given: '---\nname: true\ndescription: false\n---\nx',
    strict: { is: ['name_not_string', 'description_not_string'], says: /boolean/ },
    lenient: {
      is: { name: 'true', description: 'false' },
      warns: ['name_not_string', 'description_not_string'],
    },
  },
  {
    title: 'yes is text',
    given: '---\nname: yes\ndescription: 2024-01-15\n---\nx',
    strict: { is: { name: 'yes', description: '2024-01-15' } },
  },
  {
    title: 'capitals, accents and signs',
    given: '---\nname: Crème  Brûlée_2!\ndescription: d\n---\nx',
    strict: { is: ['name_invalid'], says: /name: creme-brulee-2/ },
    lenient: { is: { name: 'creme-brulee-2', title: 'Crème  Brûlée_2!' }, warns: ['name_invalid'] },
  },
  {
    title: 'full-width letters',
    given: '---\nname: ｐｄｆ\ndescription: d\n---\nx',
    strict: { is: ['name_invalid'] },
    lenient: { is: { name: 'pdf', title: 'ｐｄｆ' }, warns: ['name_invalid'] },
  },
  {
    title: 'no letter that fits',
    given: '---\nname: 文字\ndescription: d\n---\nx',
    sources: { name: 'q' },
    strict: { is: ['name_invalid'] },
  },
  {
    title: '64 letters',
    given: `---\nname: ${'a'.repeat(64)}\ndescription: d\n---\nx`,
    strict: { is: {} },
  },
  {
    title: '65 letters',
    given: `---\nname: ${'a'.repeat(65)}\ndescription: d\n---\nx`,
    strict: { is: ['name_invalid'], says: /65 characters of 64/ },
    lenient: { is: { name: 'a'.repeat(64) }, warns: ['name_invalid'] },
  },
  {
    title: 'cut at a hyphen',
    given: `---\nname: ${'a'.repeat(60)}-bcd-efg\ndescription: d\n---\nx`,
    strict: { is: ['name_invalid'] },
    lenient: { is: { name: `${'a'.repeat(60)}-bcd` }, warns: ['name_invalid'] },
  },
  ...['validate', 'import', 'con', 'nul', 'aux', 'prn', 'com1', 'lpt9'].map((name) => ({
    title: name,
    given: `---\nname: ${name}\ndescription: d\n---\nx`,
    strict: { is: ['name_reserved'], line: 2, says: /choose another/ },
  })),
  {
    title: 'a slug that is reserved',
    given: '---\nname: CON\ndescription: d\n---\nx',
    strict: { is: ['name_invalid', 'name_reserved'] },
    lenient: { is: ['name_reserved'], warns: ['name_invalid'] },
  },
  {
    title: 'search is a name',
    given: '---\nname: search\ndescription: d\n---\nx',
    strict: { is: { name: 'search' } },
  },
  {
    title: 'the path says otherwise',
    given: file(ID),
    sources: { expectedName: 'other' },
    strict: { is: ['name_mismatch'], line: 2, says: /"a-b".*"other"/ },
  },
  {
    title: '?name= says otherwise',
    given: file(ID),
    sources: { name: 'other' },
    strict: { is: ['name_mismatch'] },
    lenient: { is: { name: 'a-b' }, warns: ['name_mismatch'] },
  },
  {
    title: 'the folder says otherwise',
    given: file(ID),
    sources: { folder: 'other' },
    strict: { is: { name: 'a-b' }, warns: ['name_folder'] },
  },
  {
    title: 'all say the same',
    given: file(ID),
    sources: { folder: 'a-b', name: 'a-b', expectedName: 'a-b' },
    strict: { is: {} },
  },
  {
    title: 'the path is a fallback too',
    given: '# Do it',
    sources: { expectedName: 'by-path', folder: 'f' },
    strict: { is: ['frontmatter_missing'] },
    lenient: {
      is: { name: 'by-path' },
      warns: ['frontmatter_missing', 'name_missing', 'name_folder', 'description_missing'],
    },
  },
])

const long = (count: number, letter = 'a') =>
  `---\nname: a\ndescription: ${letter.repeat(count)}\n---\nx`

table('description', [
  {
    title: 'trimmed, not folded',
    given: '---\nname: a\ndescription: "  one  two\\nthree "\n---\nx',
    strict: { is: { description: 'one  two\nthree' } },
  },
  { title: '1024 CJK', given: long(1024, '字'), strict: { is: {} } },
  { title: '1024 emoji', given: long(1024, '🪴'), strict: { is: {} } },
  {
    title: '1025 letters',
    given: long(1025),
    strict: { is: ['description_too_long'], field: 'description', line: 3, says: /1025.*1024/ },
    lenient: { is: { description: 'a'.repeat(1025) }, warns: ['description_too_long'] },
  },
  {
    title: 'only zero-width',
    given: '---\nname: a\ndescription: "\\u200b \\u2060"\n---\n## First *line*  here\n',
    strict: { is: ['description_missing'], line: 3 },
    lenient: { is: { description: 'First *line* here' }, warns: ['description_missing'] },
  },
  {
    title: 'the body begins with a rule and a comment',
    given: '---\nname: a\n---\n<!-- x -->\n***\nText here\n',
    strict: { is: ['description_missing'], field: 'description' },
    lenient: { is: { description: 'Text here' }, warns: ['description_missing'] },
  },
  {
    title: 'null',
    given: '---\nname: a\ndescription: ~\n---\n',
    strict: { is: ['description_missing'] },
  },
])

const tools = (value: string) => file(`${ID}\nallowed-tools:${value}`)
const three = { allowedTools: ['Read', 'Write', 'Bash(git:*)'] }

table('allowed-tools', [
  { title: 'absent', given: file(ID), strict: { is: { allowedTools: null } } },
  { title: 'declared and empty', given: tools(''), strict: { is: { allowedTools: [] } } },
  { title: 'an empty list', given: tools(' []'), strict: { is: { allowedTools: [] } } },
  { title: 'an empty text', given: tools(' ""'), strict: { is: { allowedTools: [] } } },
  { title: 'commas', given: tools(' Read, Write,Bash(git:*)'), strict: { is: three } },
  { title: 'blanks', given: tools(' Read Write  Bash(git:*)'), strict: { is: three } },
  {
    title: 'a block list',
    given: tools('\n  - Read\n  - Write\n  - Bash(git:*)'),
    strict: { is: three },
  },
  {
    title: 'a list in brackets',
    given: tools(' [Read, Write, "Bash(git:*)"]'),
    strict: { is: three },
  },
  {
    title: 'several in one item, and repeats',
    given: tools('\n- Read, Write\n- Write Bash(git:*) Read'),
    strict: { is: three },
  },
  {
    title: 'commas and blanks in parentheses, nested too',
    given: tools(' Read, Bash(gh:*, git add (x) y), mcp__db__*'),
    strict: { is: { allowedTools: ['Read', 'Bash(gh:*, git add (x) y)', 'mcp__db__*'] } },
  },
  {
    title: 'a parenthesis left open',
    given: tools(' Read, Bash(git add:*'),
    strict: { is: ['allowed_tools_syntax'], line: 4, field: 'allowed-tools' },
    lenient: { is: { allowedTools: ['Read', 'Bash(git add:*'] }, warns: ['allowed_tools_syntax'] },
  },
  {
    title: 'a parenthesis that closes nothing',
    given: tools(' Read) Write'),
    strict: { is: ['allowed_tools_syntax'] },
    lenient: { is: { allowedTools: ['Read)', 'Write'] }, warns: ['allowed_tools_syntax'] },
  },
  {
    title: 'a mapping as an item',
    given: tools(' [Read, {a: b}]'),
    strict: { is: ['allowed_tools_item'], line: 4, field: 'allowed-tools' },
    lenient: { is: { allowedTools: ['Read', '{a:', 'b}'] }, warns: ['allowed_tools_item'] },
  },
  {
    title: 'a number',
    given: tools(' 42'),
    strict: { is: ['allowed_tools_item'] },
    lenient: { is: { allowedTools: ['42'] }, warns: ['allowed_tools_item'] },
  },
  {
    title: 'the other spelling',
    given: file(`${ID}\nallowed_tools: Read`),
    strict: { is: { allowedTools: ['Read'], extra: {} }, warns: ['key_alias'], line: 4 },
  },
  {
    title: 'the other spelling beside the right one',
    given: file(`${ID}\nallowed_tools: Read\nallowed-tools: Write`),
    strict: { is: { allowedTools: ['Write'], extra: { allowed_tools: 'Read' } } },
  },
  {
    title: 'keys that may mean it',
    given: file(`${ID}\ntools: Read`),
    strict: { is: { allowedTools: null, extra: { tools: 'Read' } }, warns: ['key_alias'] },
  },
])

const tags = (value: string) => file(`${ID}\n${value}`)

table('tags', [
  { title: 'absent', given: file(ID), strict: { is: { tags: [] } } },
  {
    title: 'cut at commas',
    given: tags('tags: machine learning, AI ,, ai'),
    strict: { is: { tags: ['machine learning', 'AI'] } },
  },
  {
    title: 'cut at blanks where there is no comma',
    given: tags('tags: one  two'),
    strict: { is: { tags: ['one', 'two'] } },
  },
  {
    title: 'a list, with scalars as written',
    given: tags('tags: [machine learning, 1.10, true, 007]'),
    strict: { is: { tags: ['machine learning', '1.10', 'true', '007'] } },
  },
  {
    title: 'metadata.tags comes behind',
    given: tags('metadata: {tags: "b, a"}\ntags: [A]'),
    strict: { is: { tags: ['A', 'b'], metadata: { tags: 'b, a' } } },
  },
  { title: 'a number alone', given: tags('tags: 2024'), strict: { is: { tags: ['2024'] } } },
  { title: 'null', given: tags('tags:'), strict: { is: { tags: [] } } },
  {
    title: 'a mapping',
    given: tags('tags: [a, {b: c}]'),
    strict: { is: ['tags_item'], field: 'tags', line: 4 },
    lenient: { is: { tags: ['a', '{b: c}'] }, warns: ['tags_item'] },
  },
])

table('other keys', [
  {
    title: 'O10 a version as written',
    given: file(`${ID}\nversion: 1.10`),
    strict: { is: { declaredVersion: '1.10', extra: {} } },
  },
  {
    title: 'O10 what YAML would bend',
    given: file(
      `${ID}\nversion: 2024-01-15\nreviewed: yes\nmetadata:\n  code: 007\n  ratio: 1e3\n  since: 1.0\n  flag: off\n  deep:\n    build: 0x1F`,
    ),
    strict: {
      is: {
        declaredVersion: '2024-01-15',
        extra: { reviewed: 'yes' },
        metadata: { code: '007', ratio: '1e3', since: '1.0', flag: 'off', deep: { build: '0x1F' } },
      },
    },
  },
  {
    title: 'O11 dates',
    given: file(`${ID}\nmetadata:\n  updated: 2026-03-05\n  at: 2026-03-05T10:00:00+02:00`),
    strict: { is: { metadata: { updated: '2026-03-05', at: '2026-03-05T10:00:00+02:00' } } },
  },
  {
    title: 'plain JSON scalars',
    given: file(
      `${ID}\nx: [true, false, null, ~, 3, -0.5, True, .inf, .nan, +1, 12345678901234567890, 0o7]`,
    ),
    strict: {
      is: {
        extra: {
          x: [
            true,
            false,
            null,
            null,
            3,
            -0.5,
            'True',
            '.inf',
            '.nan',
            '+1',
            '12345678901234567890',
            '0o7',
          ],
        },
      },
    },
  },
  {
    title: 'the version of the metadata',
    given: file(`${ID}\nversion:\nmetadata: {version: 2.0}`),
    strict: { is: { declaredVersion: '2.0', metadata: { version: '2.0' } } },
  },
  {
    title: 'a version that is a list stays a key',
    given: file(`${ID}\nversion: [1]`),
    strict: { is: { declaredVersion: null, extra: { version: [1] } } },
  },
  {
    title: 'licence and compatibility',
    given: file(`${ID}\nlicense: 0.50\ncompatibility: " git "`),
    strict: { is: { license: '0.50', compatibility: 'git' } },
  },
  {
    title: 'a licence that is a list stays a key',
    given: file(`${ID}\nlicense: [MIT]`),
    strict: { is: { license: null, extra: { license: ['MIT'] } } },
  },
  {
    title: '501 characters of compatibility',
    given: file(`${ID}\ncompatibility: ${'字'.repeat(501)}`),
    strict: { is: ['compatibility_too_long'], says: /501.*500/, field: 'compatibility' },
    lenient: { is: { compatibility: '字'.repeat(501) }, warns: ['compatibility_too_long'] },
  },
  {
    title: 'metadata that is null',
    given: file(`${ID}\nmetadata:`),
    strict: { is: { metadata: {}, extra: {} } },
  },
  {
    title: 'metadata that is text',
    given: file(`${ID}\nmetadata: text`),
    strict: { is: ['metadata_not_mapping'], line: 4, field: 'metadata' },
    lenient: { is: { metadata: {}, extra: { metadata: 'text' } }, warns: ['metadata_not_mapping'] },
  },
  {
    title: 'hidden from the model',
    given: file(`${ID}\ndisable-model-invocation: true`),
    strict: { is: { hidden: true, extra: { 'disable-model-invocation': true } } },
  },
  {
    title: 'hidden in capitals',
    given: file(`${ID}\ndisable-model-invocation: True`),
    strict: { is: { hidden: true, extra: { 'disable-model-invocation': 'True' } } },
  },
  {
    title: 'not hidden',
    given: file(`${ID}\ndisable-model-invocation: false`),
    strict: { is: { hidden: false } },
  },
])

test('a key called __proto__ is kept and changes nothing else', () => {
  const { skill } = readSkill(
    file(`${ID}\n__proto__:\n  polluted: true\nmetadata: {__proto__: 1, constructor: 2}`),
  )
  assert.equal(JSON.stringify(skill?.extra), '{"__proto__":{"polluted":true}}')
  assert.equal(JSON.stringify(skill?.metadata), '{"__proto__":1,"constructor":2}')
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
})

test('frontmatter over its size is 413, over its keys or levels 422', () => {
  assert.equal(readSkill(file('x: y\n'.repeat(20_000))).error?.status, 413)
  assert.equal(readSkill(file('x: y\n'.repeat(300))).error?.status, 422)
})

test('many keys, levels, blank lines and broken lines are answered fast', () => {
  const hostile = [
    file('a:\n'.repeat(5400)),
    file(`x: {${'a,'.repeat(8000)}}`),
    file(`x: ${'['.repeat(16_000)}`),
    file('- '.repeat(8000)),
    file(`${ID}${'\n'.repeat(16_000)}`),
    file('x: a: b\n'.repeat(2000)),
    file(`x:\n${'  - a: b: c\n'.repeat(1300)}`),
    file('"\n'.repeat(8000)),
    file('x: "\n'.repeat(250)),
    file(`${ID}\nx: "${'\\'.repeat(15_000)}`),
    `<!--${'-->\n<!--'.repeat(50_000)}`,
    `${'---\n'.repeat(200_000)}`,
    `${'\n---'.repeat(200_000)}`,
  ]
  for (const mode of ['strict', 'lenient'] as const) {
    for (const text of hostile) {
      const start = performance.now()
      readSkill(text, mode)
      const took = performance.now() - start
      assert.ok(took < 1500, `${JSON.stringify(text.slice(0, 40))} took ${took} ms`)
    }
  }
})

test('2,000 brackets a hundred times do not end the process', () => {
  for (let time = 0; time < 100; time++) {
    const { errors } = readSkill(file(`${ID}\nx: ${'['.repeat(2000)}`))
    assert.deepEqual(codes(errors), ['frontmatter_too_large'])
  }
})

test('the same file is refused the same way every time', () => {
  const seen = Array.from(
    { length: 3 },
    () => readSkill(file('name: retry-me\ndescription: [unfinished')).errors,
  )
  assert.deepEqual(seen[1], seen[0])
  assert.deepEqual(seen[2], seen[0])
})

test('whatever is sent, it is a skill or a refusal', () => {
  const piece = fc.constantFrom(
    '---\n',
    '\n',
    'name: a',
    'description: b',
    '- ',
    ': ',
    '? ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '*a',
    '&a ',
    '!!str ',
    '!x ',
    '|',
    '>',
    '|+\n',
    '\t',
    '  ',
    '# c',
    'metadata:\n',
    '<<: ',
    '__proto__: ',
    '%YAML 1.1\n',
    '...\n',
    '@',
    '`',
    'tags: ',
    'allowed-tools: ',
    'version: 1.10',
    '\u2028',
    '\u0085',
    '\u0007',
    '"\\ud800"',
    '\0',
    '中',
    '😀',
    ',',
    '\\',
    '\r',
    '\uFEFF',
  )
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const raw = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: 'binary' }).map((value) => bytesOf(value)),
    text.map((value) => bytesOf(value)),
    text.map((value) => bytesOf(file(`name: a\ndescription: b\n${value}`))),
  )
  fc.assert(
    fc.property(raw, fc.constantFrom<Mode>('strict', 'lenient'), (bytes, mode) => {
      const { skill, errors, warnings } = readSkill(bytes, mode, { name: 'a' })
      for (const { message } of [...errors, ...warnings])
        assert.match(message, /^SKILL\.md[^\n]*[.:][^\n]*$/)
      if (skill) assert.deepEqual(JSON.parse(JSON.stringify(skill.metadata)), skill.metadata)
    }),
    { numRuns: 2000 },
  )
})
