import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Diagnostics } from '../src/domain/diagnostics.ts'
import { parseSkillMd } from '../src/domain/skill-md.ts'

const root = join(import.meta.dirname, '../skills')
const shipped = readdirSync(root).sort()

test('the seven sample skills ship', () => {
  assert.deepEqual(shipped, [
    'agent-builder',
    'code-review',
    'complaint-de-escalation',
    'group-booking',
    'mcp-builder',
    'pdf',
    'reschedule-dispute',
  ])
})

for (const folder of shipped) {
  test(`${folder} reads strictly, without a warning, under the name of its folder`, () => {
    const diagnostics = new Diagnostics('SKILL.md')
    const skill = parseSkillMd(readFileSync(join(root, folder, 'SKILL.md')), diagnostics)
    assert.deepEqual(diagnostics.errors, [])
    assert.deepEqual(diagnostics.warnings, [])
    assert.equal(skill.name, folder)
    assert.equal(skill.license, 'MIT')
    assert.notDeepEqual(skill.tags, [])
  })

  test(`every relative link of ${folder} leads to a file in its folder`, () => {
    const files = filesIn(folder)
    for (const file of files) {
      const base = new URL(file, 'bundle:///')
      for (const target of relativeLinks(readFileSync(join(root, folder, file), 'utf8'))) {
        const path = decodeURI(new URL(target, base).pathname.slice(1))
        assert.ok(files.includes(path), `${file} links to ${target}`)
      }
    }
  })

  test(`every file beside SKILL.md of ${folder} is linked from it`, () => {
    const links = relativeLinks(readFileSync(join(root, folder, 'SKILL.md'), 'utf8'))
    const others = filesIn(folder).filter((file) => file !== 'SKILL.md')
    assert.deepEqual([...new Set(links)].sort(), others.sort())
  })

  test(`${folder} is plain text: LF, one final newline, no blanks at line ends`, () => {
    for (const file of filesIn(folder)) {
      const text = readFileSync(join(root, folder, file), 'utf8')
      assert.doesNotMatch(text, /\r|[ \t]\n|\n\n$/, file)
      assert.ok(text.endsWith('\n'), file)
    }
  })
}

test('the tools that the ticket shop skills may use are those of the shop', () => {
  const allowed = shipped.map((folder) => {
    const bytes = readFileSync(join(root, folder, 'SKILL.md'))
    return [folder, parseSkillMd(bytes, new Diagnostics('SKILL.md')).allowedTools]
  })
  assert.deepEqual(Object.fromEntries(allowed), {
    'agent-builder': null,
    'code-review': null,
    'complaint-de-escalation': null,
    'group-booking': ['remember_note'],
    'mcp-builder': null,
    pdf: null,
    'reschedule-dispute': ['get_order', 'get_policy'],
  })
})

function filesIn(folder: string): string[] {
  return globSync('**/*', { cwd: join(root, folder) }).filter((file) =>
    statSync(join(root, folder, file)).isFile(),
  )
}

/** Targets of Markdown links outside code, without their fragments, that name no scheme. */
function relativeLinks(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z\d+.-]*:/i.test(target))
}
