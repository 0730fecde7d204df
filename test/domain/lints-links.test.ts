import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codes, file, readSkill } from './read-skill.ts'

const FRONTMATTER = 'name: a-b\ndescription: Finds things in the shed. Use when somebody looks.'
const PATHS = ['SKILL.md', 'docs/a.md', 'docs/deep/b.png', 'my file.md', 'é.md', 'x(1).md']

function broken(body: string, paths: string[] = PATHS) {
  const { warnings } = readSkill(file(FRONTMATTER, body), 'strict', { paths })
  return warnings.filter(({ code }) => code === 'link_broken')
}

const WELL = [
  '[a](docs/a.md) ![b](./docs/deep/b.png "Title") [self](SKILL.md)',
  '[part](docs/a.md#part) [query](docs/a.md?raw=1) [out and in](docs/../docs/a.md)',
  '[folder](docs) [folder](docs/) [deep](docs/deep/) [root](.) [root](./)',
  '[blank](my%20file.md) [bracketed](<my file.md>) [backslash](docs\\a.md)',
  '[composed](e\u0301.md) [coded](%C3%A9.md) [parentheses](x(1).md) [escaped](x\\(1\\).md)',
  '[anchor](#there) [query](?x) [web](https://example.com/x) [mail](mailto:a@example.com)',
  '[absolute](/etc/x.md) [server](//example.com/x) [home](~/x.md) [drive](C:\\x.md)',
  '[to fill in]({baseDir}/x.md) [and this]($ROOT/x.md) [or any](docs/*.md) [dots](...)',
  'a span `[x](gone.md)`, a longer one ``[x](gone.md) ` [y](gone.md)``, `docs/gone.md`',
  'a span over\n`two [x](gone.md)\nlines` and on',
  '```md\n[x](gone.md)\n```\n~~~~\n[x](gone.md)\n~~~\n[y](gone.md)\n~~~~',
  '- in a list:\n\n  ```md\n  [x](gone.md)\n  ```\n- ```\n  [y](gone.md)\n  ```',
  '<!-- [x](gone.md)\n[y](gone.md) -->',
  '\\[x\\](gone.md) [x] (gone.md) [x](gone by far) [x]()',
  '[^1]: gone.md\n[Note]: important',
  '[x][1]\n\n[1]: docs/a.md "Title"\n[2]: <my file.md>\n[3]: https://example.com',
]
for (const body of WELL) {
  test(`no broken link: ${JSON.stringify(body.slice(0, 60))}`, () =>
    assert.deepEqual(broken(`${body}\n`), []))
}

const BROKEN: [title: string, body: string, lines: number[]][] = [
  ['a link', 'one\n[x](gone.md)\n', [6]],
  ['an image', '![x](docs/gone.png)', [5]],
  ['with a title', `[x](gone.md "Gone") [y](also-gone.md 'Gone')`, [5, 5]],
  ['around code', '[`x`](gone.md)', [5]],
  ['behind a fence', '```\ncode\n```\n[x](gone.md)', [8]],
  ['behind a lone backtick', 'a ` b\n\n[x](gone.md) ` c', [7]],
  ['behind an escaped backtick', 'a \\` b [x](gone.md) ` c', [5]],
  ['another case', '[x](Docs/A.md)', [5]],
  ['out of the bundle', '[x](../other/SKILL.md) [y](docs/../../docs/a.md)', [5, 5]],
  ['a folder that is a file', '[x](docs/a.md/b.md)', [5]],
  ['the beginning of a name', '[x](doc)', [5]],
  ['a definition', '[x][1]\n\n[1]: docs/gone.md', [7]],
  ['each target once', '[x](gone.md) [y](./gone.md#part)\n[z](gone.md) [w](lost.md)', [5, 6]],
  ['a broken escape', '[x](50%.md)', [5]],
]
for (const [title, body, lines] of BROKEN) {
  test(`broken link: ${title}`, () => {
    assert.deepEqual(
      broken(body).map(({ line }) => line),
      lines,
    )
  })
}

test('a broken link is told with its target', () => {
  assert.match(broken('[x](docs/gone.md#part)')[0]?.message ?? '', /line 5: .*"docs\/gone\.md"/)
})

test('a file whose frontmatter is refused is linted too, and one without a bundle is not', () => {
  const text = file('- a', '[x](gone.md)\n')
  assert.deepEqual(codes(readSkill(text, 'strict', { paths: ['SKILL.md'] }).warnings), [
    'link_broken',
  ])
  assert.deepEqual(readSkill(text).warnings, [])
})

test('of very many broken links fifty are told one by one', () => {
  const links = Array.from({ length: 80 }, (_, index) => `[x](gone-${index}.md)`)
  const found = broken(links.join('\n'))
  assert.equal(found.length, 51)
  assert.match(found.at(-1)?.message ?? '', /30 more/)
})

test('hostile links are read to the end', () => {
  const size = 1_000_000
  const fill = (text: string) => text.repeat(size / text.length)
  const texts = [
    `](${fill('a(')}`,
    `](${fill(' ')}`,
    `](${fill('(a)')}`,
    `](a ${fill('"')}`,
    ...['](', '](a "', '](a (', '](<', '` `` ', '<!--', '[a]: ', '\\`', '```\n', '> '].map(fill),
  ]
  for (const text of texts) {
    assert.deepEqual(broken(`${text}\n\n`), [], text.slice(0, 20))
  }
  assert.equal(broken(fill('[a](b)')).length, 1)
})
