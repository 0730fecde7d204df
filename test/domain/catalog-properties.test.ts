import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { renderCatalog } from '../../src/domain/catalog.ts'
import { estimateTokens } from '../../src/domain/tokens.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        '\n- evil: x',
        '</skill>',
        '</available_skills>',
        '&amp;',
        '🏽',
        '中文',
        'word',
        ' ',
        '\u2028',
        '\r',
        '…',
        '", ',
        '__',
      ),
      { minLength: 1, maxLength: 60 },
    )
    .map((parts) => parts.join('')),
)
const entries = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}$/),
    description: text,
    tags: fc.array(text, { maxLength: 3 }),
    version: fc.integer({ min: 1 }),
    digest: fc.constant('sha256:00'),
  }),
  { selector: ({ name }) => name, maxLength: 25 },
)
const options = fc.record({
  format: fc.constantFrom<'list' | 'xml'>('list', 'xml'),
  tags: fc.boolean(),
  maxTokens: fc.option(fc.integer({ min: 1, max: 3000 })),
})

test('no text breaks out of its line, and no ceiling is passed', () => {
  fc.assert(
    fc.property(entries, options, (skills, how) => {
      const catalog = renderCatalog(skills, how)
      assert.ok(catalog.tokens <= (how.maxTokens ?? Number.POSITIVE_INFINITY))
      assert.equal(catalog.tokens, estimateTokens(catalog.text))
      assert.deepEqual(
        [...catalog.offered.map(({ name }) => name), ...catalog.omitted],
        skills.map(({ name }) => name).sort(),
      )
      const shown = catalog.text.split(/[\n\v\f\r\u0085\u2028\u2029]/)
      const marker = how.format === 'list' ? /^- ([a-z0-9-]+)(: |$)/ : /^<\/skill>$/
      assert.equal(shown.filter((line) => marker.test(line)).length, catalog.offered.length)
      const closing = catalog.text.split('</available_skills>').length - 1
      const framed = how.format === 'xml' && (catalog.offered.length > 0 || skills.length === 0)
      assert.equal(closing, framed && catalog.text !== '' ? 1 : 0)
      assert.deepEqual(renderCatalog(skills.toReversed(), how), catalog)
    }),
    { numRuns: 500 },
  )
})

test('ten thousand skills are rendered at any ceiling', { timeout: 20_000 }, () => {
  const skills = Array.from({ length: 10_000 }, (_, index) => ({
    name: `skill-${index}`,
    description: `Handles case number ${index} of the big book of tea rules. `.repeat(4),
    tags: [],
    version: 1,
    digest: 'sha256:00',
  }))
  for (const maxTokens of [null, 200_000, 60_000, 4000, 20]) {
    const { tokens, offered, omitted } = renderCatalog(skills, {
      format: 'list',
      tags: false,
      maxTokens,
    })
    assert.ok(tokens <= (maxTokens ?? tokens))
    assert.equal(offered.length + omitted.length, skills.length)
  }
})
