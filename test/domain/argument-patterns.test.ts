import assert from 'node:assert/strict'
import test from 'node:test'
import { patternAllows } from '../../src/domain/argument-patterns.ts'
import { allowedBy, allowsCall } from '../../src/domain/tool-permissions.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const commands: [entry: string, command: string, allowed: boolean][] = [
  ['Bash', 'anything; at all', true],
  ['Bash(*)', 'anything; at all', true],
  ['Bash(:*)', 'anything', true],
  ['Bash(git:*)', 'git', true],
  ['Bash(git:*)', 'git status', true],
  ['Bash(git:*)', '  git   log -n 1 ', true],
  ['Bash(git:*)', 'git commit -m "a; b && c > d"', true],
  ['Bash(git:*)', "git commit -m 'a\nb'", true],
  ['Bash(git:*)', 'git log # the last', true],
  ['Bash(git:*)', 'gitk', false],
  ['Bash(git:*)', 'ls', false],
  ['Bash(git:*)', 'ls git', false],
  ['Bash(git:*)', '', false],
  ['Bash(git:*)', 'X=1 git status', false],
  ['Bash(git:*)', 'git$IFS-status', false],
  ['Bash(git:*)', './git status', false],
  ['Bash(git:*)', 'git status; ls', false],
  ['Bash(git:*)', 'git status;', false],
  ['Bash(git:*)', 'git status && ls', false],
  ['Bash(git:*)', 'git status || ls', false],
  ['Bash(git:*)', 'git status | ls', false],
  ['Bash(git:*)', 'git status|ls', false],
  ['Bash(git:*)', 'git status & ls', false],
  ['Bash(git:*)', 'git status &', false],
  ['Bash(git:*)', 'git status\nls', false],
  ['Bash(git:*)', 'git status\r\nls', false],
  ['Bash(git:*)', 'git status $(ls)', false],
  ['Bash(git:*)', 'git status "$(ls)"', false],
  ['Bash(git:*)', 'git status `ls`', false],
  ['Bash(git:*)', 'git diff <(ls)', false],
  ['Bash(git:*)', 'git log > x', false],
  ['Bash(git:*)', 'git log >> x', false],
  ['Bash(git:*)', 'git log 2>&1', false],
  ['Bash(git:*)', 'git apply < x', false],
  ['Bash(git:*)', '(git status)', false],
  ['Bash(git:*)', '{ git status; }', false],
  ['Bash(git:*)', 'git commit -m "a', false],
  ['Bash(git:*)', "git commit -m 'a", false],
  ['Bash(git:*)', 'git log # x\nls', false],
  ['Bash(git:*)', 'git log \r# ; ls', false],
  ['Bash(git:*)', `git log "\${x#'"'}" ; ls ; "\${x#'"'}"`, false],
  ['Bash(git:*)', `git log $['"'] ; ls ; $['"']`, false],
  ['Bash(git:*)', `git log "\${x}" $y`, true],
  ['Bash(git add:*)', 'git add x', true],
  ['Bash(git add *)', 'git add x y', true],
  ['Bash(git add *)', 'git add', true],
  ['Bash(git add:*)', 'git commit', false],
  ['Bash(git add:*)', 'git "add x"', false],
  ['Bash(npm run test)', 'npm run test', true],
  ['Bash(npm run test)', 'npm  run  "test"', true],
  ['Bash(npm run test)', 'npm run test --watch', false],
  ['Bash(npm run test)', 'npm run', false],
  ['Bash(npm run test:*)', 'npm run test --watch', true],
  ['Bash(npm run test:*)', 'npm run test:all', false],
  ['Bash(npm run test:*)', 'npm run tests', false],
  ['Bash(python3 scripts/*.py)', 'python3 scripts/a.py', true],
  ['Bash(python3 scripts/*.py)', 'python3 scripts/../../a.py', false],
  ['Bash(a && b)', 'a && b', false],
  ['Bash()', 'ls', false],
  ['Bash(git:*', 'git status', true],
  ['Bash(git:*', 'ls', false],
  ['bash(ls)', 'ls', true],
]
for (const [entry, command, allowed] of commands) {
  test(`${entry} ${allowed ? 'allows' : 'does not allow'} ${JSON.stringify(command)}`, () => {
    assert.equal(patternAllows(entry, 'bash', { command }), allowed)
  })
}

const paths: [entry: string, path: string, allowed: boolean][] = [
  ['Read', 'anything', true],
  ['Read(*)', 'a/b.md', true],
  ['Read(**)', '/etc/x', true],
  ['Read(./src/**)', 'src/a.ts', true],
  ['Read(./src/**)', './src/a/b/c.ts', true],
  ['Read(src/**)', 'src/a/../b.ts', true],
  ['Read(src/**)', 'src/../a.ts', false],
  ['Read(src/**)', '../src/a.ts', false],
  ['Read(src/**)', '/src/a.ts', false],
  ['Read(src/**)', 'srcs/a.ts', false],
  ['Read(src/*)', 'src/a.ts', true],
  ['Read(src/*)', 'src/a/b.ts', false],
  ['Read(src/**/*.ts)', 'src/a.ts', true],
  ['Read(src/**/*.ts)', 'src/a/b/c.ts', true],
  ['Read(src/**/*.ts)', 'src/a/b/c.md', false],
  ['Read(**/a/**/b)', 'a/x/a/y/b', true],
  ['Read(**/a/**/b)', 'a/x/c', false],
  ['Read(*.md)', 'docs/a.md', true],
  ['Read(*.md)', 'a.ts', false],
  ['Read(/tmp/**)', '/tmp/a', true],
  ['Read(/tmp/**)', '/tmp/../etc/a', false],
  ['Read(/tmp/**)', 'tmp/a', false],
  ['Read(a.md)', 'a.md', true],
]
for (const [entry, path, allowed] of paths) {
  test(`${entry} ${allowed ? 'allows' : 'does not allow'} ${path}`, () => {
    assert.equal(patternAllows(entry, 'read_file', { path }), allowed)
  })
}

test('what stands in the parentheses of another tool limits nothing', () => {
  assert.ok(patternAllows('WebFetch(domain:example.org)', 'WebFetch', { url: 'x' }))
  assert.ok(patternAllows('get_order(1)', 'get_order', {}))
})

test('arguments that are none of the tool pass no pattern', () => {
  for (const input of [undefined, null, 'git', [], {}, { command: 1 }, { command: ['git'] }]) {
    assert.equal(patternAllows('Bash(git:*)', 'bash', input), false)
    assert.equal(patternAllows('Read(src/**)', 'read_file', input), false)
  }
})

test('a call passes when any entry that names its tool allows its arguments', () => {
  const lists = [
    { skill: 'a', allowedTools: ['Bash(git:*)', 'Read'] },
    { skill: 'b', allowedTools: ['Bash(npm run test)'] },
    { skill: 'c', allowedTools: null },
  ]
  const runs = (command: string) => allowsCall(lists, 'bash', { command })
  assert.ok(allowedBy(lists, 'bash'))
  assert.ok(runs('git status'))
  assert.ok(runs('npm run test'))
  assert.equal(runs('npm run build'), false)
  assert.equal(runs('git status && npm run test'), false)
  assert.ok(allowsCall(lists, 'read_file', { path: 'x' }))
  assert.equal(allowsCall(lists, 'write_file', { path: 'x' }), false)
  assert.ok(allowsCall(lists, 'load_skill', { name: 'x' }))
  assert.ok(allowsCall([{ skill: 'c', allowedTools: null }], 'bash', { command: 'ls; ls' }))
  assert.ok(allowsCall([{ skill: 'd', allowedTools: ['*'] }], 'bash', { command: 'ls; ls' }))
})

test('hostile patterns and arguments are matched in a moment', LIMIT, () => {
  const many = '**/a/'.repeat(2000)
  assert.equal(patternAllows(`Read(${many}b)`, 'read_file', { path: 'a/'.repeat(2000) }), false)
  assert.equal(patternAllows('Read(a/**)', 'read_file', { path: 'a/'.repeat(1_000_000) }), false)
  const command = `git ${'a '.repeat(200_000)}`
  assert.equal(patternAllows(`Bash(${'*a'.repeat(100_000)} b)`, 'bash', { command }), false)
  assert.ok(patternAllows('Bash(git:*)', 'bash', { command }))
})
