import assert from 'node:assert/strict'
import test from 'node:test'
import { allowedBy, SKILL_TOOLS } from '../../src/domain/tool-permissions.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const allows = (allowedTools: string[], tool: string): boolean =>
  allowedBy([{ skill: 'a', allowedTools }], tool)

const table: [entry: string, tool: string, allowed: boolean][] = [
  ['get_order', 'get_order', true],
  ['get_order', 'get_orders', false],
  ['get_order', 'Get_Order', false],
  ['get_order', 'get_policy', false],
  ['Read', 'read_file', true],
  ['Write', 'write_file', true],
  ['Edit', 'edit_file', true],
  ['Glob', 'glob', true],
  ['Bash', 'bash', true],
  ['Read', 'Read', true],
  ['bash', 'bash', true],
  ['read', 'read_file', false],
  ['Read', 'write_file', false],
  ['Bash(git:*)', 'bash', true],
  ['Bash(git add *)', 'bash', true],
  ['bash(ls)', 'bash', true],
  ['Bash(get_order)', 'get_order', false],
  ['Bash(*', 'get_order', false],
  ['*', 'anything', true],
  ['mcp__db__*', 'mcp__db__query', true],
  ['mcp__db__*', 'mcp__database__query', false],
  ['*__query', 'mcp__db__query', true],
  ['mcp__*__query', 'mcp__db__query', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['get.order', 'get_order', false],
  ['get_order|get_policy', 'get_order', false],
  ['', 'get_order', false],
  ['(x)', 'get_order', false],
  ['constructor', 'get_order', false],
]
for (const [entry, tool, allowed] of table) {
  test(`the entry "${entry}" ${allowed ? 'allows' : 'does not allow'} ${tool}`, () => {
    assert.equal(allows([entry], tool), allowed)
  })
}

test('several lists allow their union', () => {
  const lists = [
    { skill: 'reschedule-dispute', allowedTools: ['get_order', 'get_policy'] },
    { skill: 'group-booking', allowedTools: ['remember_note'] },
    { skill: 'complaint-de-escalation', allowedTools: null },
  ]
  const tools = ['get_order', 'get_policy', 'remember_note', 'get_current_time']
  assert.deepEqual(
    tools.filter((tool) => allowedBy(lists, tool)),
    ['get_order', 'get_policy', 'remember_note'],
  )
})

test('where no skill has a list, everything is allowed', () => {
  assert.ok(allowedBy([], 'get_order'))
  assert.ok(allowedBy([{ skill: 'a', allowedTools: null }], 'get_order'))
})

test('an empty list leaves the skill tools', () => {
  assert.equal(allows([], 'get_order'), false)
  for (const tool of SKILL_TOOLS) assert.ok(allows([], tool))
  assert.deepEqual(SKILL_TOOLS, ['load_skill', 'read_skill_file', 'search_skills'])
})

test('a hostile pattern is matched in a moment', LIMIT, () => {
  assert.equal(allows([`${'*a'.repeat(100_000)}b`], 'a'.repeat(128)), false)
  assert.equal(allows(['*'.repeat(100_000)], 'get_order'), true)
})
