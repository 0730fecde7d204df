import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { queryPhrases, searchTerms } from '../../src/domain/search-terms.ts'

suite('the terms of a text', () => {
  for (const [text, terms] of [
    ['Reviews the reviewers', 'review the review'],
    ['multi-agent C++ (a:b) @team', 'multi agent c a b team'],
    ['Café NAÏVE ＰＤＦ ﬁle', 'cafe naiv pdf file'],
    ['mp3 2024 ½', 'mp3 2024 1 2'],
    ['用Excel导出', '用 excel 导 出'],
    ['ガイドを作る', 'ガ イ ド を 作 る'],
    ['ｶﾞデータ', 'ガ デ ー タ'],
    ['주간 report보고', '주 간 report 보 고'],
    ['ที่นี่', 'ที่ นี่'],
    ['Читает данные', 'читает данные'],
    ['हिन्दी में', 'हिन्दी में'],
    ['soft\u00adware ❤️', 'softwar'],
    ['😀 *%_"\0\ud800', ''],
  ] as const) {
    test(`"${text}"`, () => {
      assert.equal(searchTerms(text).join(' '), terms)
    })
  }

  test('a term is never longer than a database takes', () => {
    for (const text of ['x'.repeat(5000), '\u{10400}'.repeat(5000), `a${'\u0903'.repeat(5000)}`]) {
      const [term = ''] = searchTerms(text)
      assert.ok(term.length > 0 && term.length <= 64 && term.isWellFormed(), term)
    }
  })
})

suite('the phrases of a query', () => {
  for (const [query, phrases] of [
    ['review my code', [['review'], ['code']]],
    ['how do I do this', [['how'], ['do'], ['i'], ['thi']]],
    ['don\u2019t', [['don'], ['t']]],
    [
      '生成周报',
      [
        ['生', '成'],
        ['成', '周'],
        ['周', '报'],
      ],
    ],
    ['报', [['报']]],
    ['用Excel', [['excel']]],
    ['周报, 周报', [['周', '报']]],
    [
      '周报。月报',
      [
        ['周', '报'],
        ['月', '报'],
      ],
    ],
    ['code code CODE', [['code']]],
    ['*', []],
    ['👍 …', []],
    ['', []],
  ] as const) {
    test(`"${query}"`, () => {
      assert.deepEqual(queryPhrases(query), phrases)
    })
  }

  test('are at most 32, of what stands first', () => {
    const words = Array.from({ length: 100 }, (_, at) => `word${at}`)
    assert.deepEqual(
      queryPhrases(words.join(' ')),
      words.slice(0, 32).map((word) => [word]),
    )
    assert.equal(queryPhrases('周报'.repeat(1e6)).length, 2)
  })
})

test('no term holds what a search engine reads as more than a word', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const phrases = queryPhrases(text)
      for (const term of [...searchTerms(text), ...phrases.flat()]) {
        assert.match(term, /^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*$/v)
      }
      assert.equal(new Set(phrases.map((phrase) => phrase.join(' '))).size, phrases.length)
      assert.equal(phrases.length > 0, searchTerms(text).length > 0)
    }),
  )
})
