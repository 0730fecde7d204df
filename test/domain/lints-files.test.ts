import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Diagnostics } from '../../src/domain/diagnostics.ts'
import { lintFiles } from '../../src/domain/lints/files.ts'

const TOKEN = 'ghp_q7Zt9LmKp2Rw8XvB4nYc6HdJ3sFg5TkQ1uEa'

function lint(files: Record<string, string | Uint8Array>) {
  const diagnostics = new Diagnostics('SKILL.md')
  const given = Object.entries(files).map(([path, bytes]) => ({ path, bytes: Buffer.from(bytes) }))
  lintFiles(given, diagnostics)
  return diagnostics.warnings
}

const told = (files: Record<string, string | Uint8Array>) =>
  lint(files).map(({ code, file, line }) => [code, file, line])

test('a file is linted for what is hidden and for secrets, with its path and line', () => {
  const files = { 'docs/a.md': 'one\r\ntwo \u202E\r\n', 'run.sh': `\n\nTOKEN=${TOKEN}\n` }
  assert.deepEqual(told(files), [
    ['hidden_unicode', 'docs/a.md', 2],
    ['secret_suspected', 'run.sh', 3],
  ])
  const [hidden, secret] = lint(files)
  assert.match(hidden?.message ?? '', /^docs\/a\.md line 2: U\+202E/)
  assert.ok(!secret?.message.includes(TOKEN.slice(-8)))
})

test('a name that hides something is told, and the message does not show it', () => {
  const path = 'docs/a\u202Edm.exe'
  assert.deepEqual(told({ [path]: 'A' }), [['hidden_unicode', path, undefined]])
  const [warning] = lint({ [path]: 'A' })
  assert.match(warning?.message ?? '', /U\+202E/)
  assert.doesNotMatch(warning?.message ?? '', /\u202E/)
})

test('what is no text, or too long to be read, is passed over', () => {
  const secret = Buffer.from(`\n${TOKEN}\n`)
  const files = {
    'a.bin': Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), secret]),
    'long.txt': Buffer.concat([Buffer.alloc(1024 * 1024, ' '), secret]),
    'bom.txt': '\uFEFFA plain text.\n',
    'family.txt': '👨‍👩‍👧 می‌شود\n',
    'empty.txt': '',
  }
  assert.deepEqual(told(files), [])
  const whole = Buffer.concat([secret, Buffer.alloc(1024 * 1024 - secret.length, ' ')])
  assert.deepEqual(told({ 'whole.txt': whole }), [['secret_suspected', 'whole.txt', 2]])
})

test('of very many files fifty are told one by one', () => {
  const files = Array.from({ length: 70 }, (_, index) => [`${index}.txt`, '\u200B'])
  const warnings = lint(Object.fromEntries(files))
  assert.equal(warnings.length, 51)
  assert.match(warnings.at(-1)?.message ?? '', /20 more/)
})
