import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SKILL_TOOLS } from '../../src/domain/tool-permissions.ts'
import { file, readSkill } from './read-skill.ts'

const WORKSPACE = ['bash', 'read_file', 'write_file', 'edit_file', 'glob']

function lint(allowedTools: string, tools: readonly string[] = SKILL_TOOLS) {
  const frontmatter = `name: a-b\ndescription: Finds a thing. Use when asked.\nallowed-tools: ${allowedTools}`
  const { warnings } = readSkill(file(frontmatter), 'lenient', { tools })
  return warnings.filter(({ code }) => code === 'unknown_tool')
}

const KNOWN: [allowedTools: string, tools?: readonly string[]][] = [
  ['load_skill, read_skill_file, search_skills'],
  ['get_order, get_policy, remember_note'],
  ['mcp__github__list, mcp__*, Web*, "*"'],
  ['[]'],
  ['Bash(git:*), Read, Write, Edit, Glob', WORKSPACE],
  ['bash, read_file, write_file, edit_file, glob', WORKSPACE],
  ['Search', ['Search']],
]
for (const [allowedTools, tools] of KNOWN) {
  test(`no unknown tool: ${allowedTools}`, () => assert.deepEqual(lint(allowedTools, tools), []))
}

const UNKNOWN: [allowedTools: string, named: string, tools?: readonly string[]][] = [
  ['Bash(git:*), get_order', '"Bash"'],
  ['Read, Bash(git add:*), Bash(git log:*)', '"Read", "Bash"'],
  ['write_file, glob', '"write_file", "glob"'],
  ['Bash, WebFetch, TodoWrite', '"WebFetch", "TodoWrite"', WORKSPACE],
  ['read', '"read"', WORKSPACE],
]
for (const [allowedTools, named, tools] of UNKNOWN) {
  test(`unknown tool: ${allowedTools}${tools ? ' with a workspace' : ''}`, () => {
    const [warning, ...others] = lint(allowedTools, tools)
    assert.deepEqual([warning?.line, warning?.field, others], [4, 'allowed-tools', []])
    assert.ok(warning?.message.includes(`is called ${named}:`), warning?.message)
  })
}

test('of very many unknown tools ten are named', () => {
  const names = Array.from({ length: 30 }, (_, index) => `Tool${index}`)
  assert.match(lint(names.join(' '))[0]?.message ?? '', /"Tool9" and 20 more:/)
})

test('tools are not linted where nobody knows which there are', () => {
  const frontmatter = 'name: a-b\ndescription: Finds a thing. Use when asked.\nallowed-tools: Bash'
  assert.deepEqual(readSkill(file(frontmatter)).warnings, [])
})
