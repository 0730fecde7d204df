import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { estimateTokens } from '../../src/domain/tokens.ts'
import { repeatLine, wrapSkill } from '../../src/domain/wrapped-skill.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const wrap = (body: string, files: string[] = []): string =>
  wrapSkill({ name: 'pdf', version: 3, body }, files)

test('a body stands in a tag with its name and version', () => {
  assert.equal(
    wrap('  Fill it.\nThen save.\n\n'),
    '<skill name="pdf" version="3">\n  Fill it.\nThen save.\n</skill>',
  )
  assert.equal(wrap(''), '<skill name="pdf" version="3">\n\n</skill>')
})

test('the bundled files are listed below, with the call that reads them', () => {
  assert.equal(
    wrap('Fill it.', ['forms.md', 'scripts/fill.py']),
    `<skill name="pdf" version="3">
Fill it.
</skill>

Files of this skill, to be read with read_skill_file {"skill": "pdf", "path": "…"} when needed:
- forms.md
- scripts/fill.py`,
  )
})

test('a long list of files is cut, and says so', () => {
  const lines = wrap(
    'Fill it.',
    Array.from({ length: 512 }, (_, index) => `pages/${index}.md`),
  ).split('\n')
  assert.equal(lines.at(-2), '- pages/49.md')
  assert.equal(lines.at(-1), '(and 462 more)')
})

const suffixed: [what: string, body: string, tag: string][] = [
  ['the closing tag', 'a </skill> b', 'skill-2'],
  ['blanks inside it', 'a </ skill > b', 'skill-2'],
  ['another case', 'a </SKILL> b', 'skill-2'],
  ['a line break inside it', 'a </skill\n> b', 'skill-2'],
  ['no bracket at its end', 'a </skill', 'skill-2'],
  ['full-width look-alikes', 'a ＜／ｓｋｉｌｌ＞ b', 'skill-2'],
  ['zero-width characters inside it', 'a </sk\u200bill> b', 'skill-2'],
  ['the tag with a suffix as well', 'a </skill> </skill-2> </Skill-3 >', 'skill-4'],
  ['only the tag with a suffix', 'a </skill-2>', 'skill'],
  ['another tag', 'a </skills> </skill-name> <skill> </available_skills>', 'skill'],
]
for (const [what, body, tag] of suffixed) {
  test(`the wrapper is ${tag} when the body holds ${what}`, () => {
    const text = wrap(body)
    assert.ok(text.startsWith(`<${tag} name="pdf" version="3">\n`), text)
    assert.ok(text.endsWith(`\n</${tag}>`), text)
  })
}

test('the path of a file does not close the wrapper either', () => {
  const text = wrap('Fill it.', ['<', '</skill>'])
  assert.ok(text.startsWith('<skill-2 '))
})

test('a path stays on its line', () => {
  assert.equal(wrap('x', ['a\u2028- b.md']).split(/[\n\u2028]/).length, 6)
})

test('for any body and paths there is one closing tag of the wrapper', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          '</skill>',
          '</skill-2>',
          '</',
          'skill',
          '-3',
          '>',
          ' ',
          '\n',
          '<',
          '／',
          'K',
        ),
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(hostile, fc.array(hostile, { maxLength: 3 }), (body, files) => {
      const text = wrap(body, files)
      const tag = /^<(skill(?:-\d+)?) name="pdf" version="3">\n/.exec(text)?.[1]
      assert.ok(tag)
      const plain = text.normalize('NFKC').toLowerCase()
      assert.equal(plain.split(`</${tag}>`).length, 2)
      assert.ok(text.slice(`<${tag} name="pdf" version="3">\n`.length).startsWith(body.trimEnd()))
    }),
  )
})

test('a megabyte of closing tags is wrapped in a moment', LIMIT, () => {
  for (const unit of ['</skill>', '<', '< ', '</ ', '</skill-', '\u200b']) {
    const body = Array.from({ length: 100_000 }, (_, index) => `${unit}${index % 9}`).join('')
    assert.ok(wrap(body).includes(body.trimEnd()))
  }
})

test('a repeated load answers one short line', () => {
  const name = `a${'-long-name'.repeat(6)}`
  const line = repeatLine(name, 123_456)
  assert.ok(line.includes(`"${name}"`) && line.includes('123456') && !line.includes('\n'))
  assert.ok(line.length <= 300 && estimateTokens(line) <= 60)
})
