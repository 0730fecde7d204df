import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findHidden } from '../../src/domain/lints/hidden-unicode.ts'
import { findSecret } from '../../src/domain/lints/secret.ts'
import { findLoneSurrogate } from '../../src/domain/lone-surrogate.ts'
import { codes, file, readSkill } from './read-skill.ts'

const skillWith = (description: string, body = '\n# Steps\n\nLook in the drawer.\n') =>
  file(`name: a-b\ndescription: ${description}`, body)

const GOOD = 'Finds things in the shed. Use when somebody looks for a tool.'

const LINTS: [title: string, text: string, warnings: string[]][] = [
  ['a good skill earns none', skillWith(GOOD), []],
  [
    'no word on when',
    skillWith('A collection of notes about sheds and tools.'),
    ['description_no_trigger'],
  ],
  ['very short', skillWith('Use if asked'), ['description_short']],
  ['short in letters but not in Chinese', skillWith('整理棚子里的工具，需要时使用'), []],
  [
    'Chinese without a word on when',
    skillWith('棚子里的工具大全与说明文档'),
    ['description_no_trigger'],
  ],
  ['a tag', skillWith(`"${GOOD} <b>Now</b>"`), ['description_markup']],
  ['a comparison is no tag', skillWith(`"${GOOD} If a < b and c > d."`), []],
  ['an empty body', skillWith(GOOD, ' \n\n'), ['body_empty']],
  ['500 lines', skillWith(GOOD, 'x\n'.repeat(500)), []],
  ['501 lines', skillWith(GOOD, 'x\n'.repeat(501)), ['body_long']],
  ['few lines of many tokens', skillWith(GOOD, `${'word '.repeat(6000)}\n`), ['body_long']],
  ['an escape that hides a character', skillWith(`"${GOOD} \\u202e"`), ['hidden_unicode']],
]

for (const [title, text, warnings] of LINTS) {
  test(`lint: ${title}`, () => assert.deepEqual(codes(readSkill(text).warnings), warnings))
}

test('a body is linted also when its frontmatter is refused', () => {
  const { errors, warnings } = readSkill(file('- a', 'x\n'.repeat(501)))
  assert.deepEqual(codes(errors), ['frontmatter_not_mapping'])
  assert.deepEqual(codes(warnings), ['body_long'])
})

const HIDDEN: [title: string, text: string][] = [
  ['tag characters', `text${'\u{E0069}\u{E0067}'}`],
  ['an override', 'a \u202E b'],
  ['an isolate', 'rm \u2066-rf\u2069'],
  ['a zero-width space', 'a\u200Bb'],
  ['a joiner between Latin letters', 'a\u200Db'],
  ['a mark inside', 'a\uFEFFb'],
  ['a word joiner', 'a\u2060b'],
  ['bytes in variation selectors', 'a\uFE00\uFE01\uFE02'],
  ['bytes in the other selectors', '😀\u{E0101}\u{E0102}'],
  ['tags behind another flag', '🏁\u{E0067}\u{E007F}'],
]
for (const [title, text] of HIDDEN) {
  test(`hidden: ${title}`, () => assert.ok(findHidden(text)))
}

const SEEN: [title: string, text: string][] = [
  ['a family', '👨‍👩‍👧 ❤️ 👁️‍🗨️ 🏳️‍🌈 👩🏽‍💻'],
  ['Persian', 'می‌شود'],
  ['Hindi', 'क्‍ष'],
  ['Malayalam', 'ന്‍'],
  ['the flag of England', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['a Japanese variant', '葛\u{E0100}'],
  ['marks of direction in Hebrew', 'שלום\u200F!'],
]
for (const [title, text] of SEEN) {
  test(`not hidden: ${title}`, () => assert.equal(findHidden(text), undefined))
}

test('what is hidden is told with its line, its name and how much more there is', () => {
  const [warning] = readSkill(skillWith(GOOD, 'one\ntwo \u202E three \u2066\n')).warnings
  assert.equal(warning?.line, 6)
  assert.match(warning?.message ?? '', /U\+202E, and 1 more/)
})

const random = 'q7Zt9LmKp2Rw8XvB4nYc6HdJ3sFg5TkQ1uEa0iOz'
const SECRETS: [title: string, text: string][] = [
  ['an AWS secret', `AWS_SECRET_ACCESS_KEY=${'Q7test'.repeat(6)}Q7te`],
  ['an AWS secret in JSON', `"aws_secret_access_key": "${random}"`],
  ['an AWS key', 'AKIAQ7TESTQ7TESTQ7TE'],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nabc'],
  ['an RSA key', '-----BEGIN RSA PRIVATE KEY-----'],
  ['GitHub', `ghp_${random.slice(0, 36)}`],
  ['Anthropic', `sk-ant-api03-${random}`],
  ['Slack', `xoxb-${random}`],
  ['Google', `AIza${random.slice(0, 35)}`],
  ['npm', `npm_${random.slice(0, 36)}`],
  ['Stripe', `sk_live_${random.slice(0, 24)}`],
]
for (const [title, text] of SECRETS) {
  test(`secret: ${title}`, () => {
    const body = `x\n${text}\n`
    const [warning] = readSkill(skillWith(GOOD, body)).warnings
    assert.equal(warning?.code, 'secret_suspected')
    assert.equal(warning?.line, 6)
    assert.ok(!warning.message.includes(text.slice(-12)))
  })
}

const INNOCENT = [
  'AKIAIOSFODNN7EXAMPLE',
  'sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'OPENAI_API_KEY=sk-your-key-goes-here-and-nowhere-else-please',
  'AWS_SECRET_ACCESS_KEY=$SECRET',
  'ghp_000000000000000000000000000000000000',
  '-----BEGIN PUBLIC KEY-----',
]
for (const text of INNOCENT) {
  test(`no secret: ${text}`, () => assert.equal(findSecret(text), undefined))
}

test('half of a character is found in a string', () => {
  assert.equal(findLoneSurrogate('a😀b'), -1)
  assert.equal(findLoneSurrogate('a😀\ud800b'), 3)
  assert.equal(findLoneSurrogate('\udc00'), 0)
})

test('lints take linear time', () => {
  const texts = [
    '<a'.repeat(500_000),
    'aws_secret_key '.repeat(60_000),
    'sk-'.repeat(300_000),
    '\u200B'.repeat(500_000),
    ' '.repeat(1_000_000),
  ]
  for (const text of texts) {
    const start = performance.now()
    readSkill(skillWith(GOOD, text))
    assert.ok(performance.now() - start < 2000, text.slice(0, 20))
  }
})
