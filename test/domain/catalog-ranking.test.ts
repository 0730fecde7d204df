import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CatalogOptions, renderCatalog } from '../../src/domain/catalog.ts'
import { estimateTokens } from '../../src/domain/tokens.ts'

const skill = (name: string, description: string) => ({
  name,
  description,
  tags: ['kitchen'],
  version: 2,
  digest: `sha256:${name}`,
})

const list: CatalogOptions = { format: 'list', tags: false, maxTokens: null }
const many = Array.from({ length: 30 }, (_, index) =>
  skill(
    `skill-${String(index).padStart(2, '0')}`,
    index % 3 === 0
      ? 'Brews tea.'
      : 'Plans, brews and pours a pot of tea for any number of guests, and washes up afterwards.',
  ),
)

const text = fc.array(fc.constantFrom('中文', 'word', ' ', '<&>', '🏽', '\n', '…'), {
  minLength: 1,
  maxLength: 80,
})
const entries = fc.uniqueArray(
  fc
    .tuple(fc.stringMatching(/^[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}$/), text)
    .map(([name, parts]) => skill(name, parts.join(''))),
  { selector: ({ name }) => name, maxLength: 25 },
)
const options = fc.record({
  format: fc.constantFrom<'list' | 'xml'>('list', 'xml'),
  tags: fc.boolean(),
  maxTokens: fc.option(fc.integer({ min: 1, max: 3000 })),
})

test('the best matches keep their lines, in their places, where others do not', () => {
  const ranking = ['skill-25', 'skill-04', 'gone', 'skill-04']
  const shownAt = (maxTokens: number) => {
    const { offered } = renderCatalog(many, { ...list, maxTokens, ranking })
    return new Map(offered.map(({ name, shown }) => [name, shown]))
  }
  assert.deepEqual(
    renderCatalog(many, { ...list, ranking }),
    renderCatalog(many, list),
    'where all is shown',
  )
  const short = shownAt(500)
  assert.deepEqual([short.get('skill-25'), short.get('skill-04')], ['full', 'full'])
  assert.deepEqual([short.get('skill-26'), short.get('skill-05')], ['short', 'short'])
  assert.ok([...shownAt(230).values()].every((shown) => shown === 'name'))
  const some = shownAt(100)
  assert.deepEqual([some.get('skill-25'), some.get('skill-04')], ['full', 'full'])
  assert.deepEqual([some.get('skill-00'), some.get('skill-26')], ['name', undefined])
  assert.deepEqual([...some.keys()], [...some.keys()].toSorted())
  const one = renderCatalog(many, { ...list, maxTokens: 30, ranking })
  assert.match(one.text, /\n- skill-04\n- skill-25\n\(27 more skills/)
})

test('a ranking passes no ceiling, and loses and doubles no skill', () => {
  const ranked = fc.tuple(entries, options, fc.array(fc.nat(30), { maxLength: 12 }))
  fc.assert(
    fc.property(ranked, ([skills, how, places]) => {
      const ranking = places.flatMap((place) => skills[place]?.name ?? [])
      const catalog = renderCatalog(skills, { ...how, ranking })
      assert.ok(catalog.tokens <= (how.maxTokens ?? Number.POSITIVE_INFINITY))
      assert.equal(catalog.tokens, estimateTokens(catalog.text))
      const names = catalog.offered.map(({ name }) => name)
      assert.deepEqual(names, names.toSorted())
      assert.deepEqual(
        [...names, ...catalog.omitted].toSorted(),
        skills.map(({ name }) => name).toSorted(),
      )
      assert.deepEqual(renderCatalog(skills.toReversed(), { ...how, ranking }), catalog)
    }),
    { numRuns: 500 },
  )
})
