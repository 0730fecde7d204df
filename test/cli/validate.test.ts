import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { skillMd } from '../build-app.ts'
import { ROOT } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import { BROKEN, runCli, runJson, writeFiles } from './run-cli.ts'

interface Fault {
  code: string
  file: string
  line?: number
  column?: number
}
interface Report {
  valid: boolean
  errors: number
  warnings: number
  skills: {
    path: string
    name: string | null
    valid: boolean
    errors: Fault[]
    warnings: Fault[]
  }[]
}

test('the skills that ship are valid, without a service', async (t) => {
  const env = { LOADSKILL_URL: 'http://127.0.0.1:1' }
  const { code, stdout, stderr } = await runCli(t, ['validate', 'skills'], { env, cwd: ROOT })

  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(stdout, '7 skills, all valid: 0 errors, 0 warnings.\n')
})

test('a fault is a line that editors open, and ends with 1', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'a b/release-notes/SKILL.md': BROKEN,
    'good/greet/SKILL.md': skillMd('greet'),
  })

  const { code, stdout } = await runCli(t, ['validate'], { cwd })
  assert.equal(code, 1)
  assert.deepEqual(stdout.split('\n'), [
    'a b/release-notes/SKILL.md:3:14: error frontmatter_yaml: the value of "description" holds ": " and must be quoted: put it between double quotes.',
    '2 skills, 1 not valid: 1 error, 0 warnings.',
    '',
  ])
  const lenient = await runCli(t, ['validate', '--lenient', '.'], { cwd })
  assert.equal(lenient.code, 0)
  assert.match(lenient.stdout, /^a b\/release-notes\/SKILL\.md:3:\d+: warning frontmatter_yaml: /)
})

test('a whole repository is searched, but for what is not its own', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    '.claude/skills/one/SKILL.md': skillMd('one'),
    'packages/deep/down/two/skill.md': skillMd('two'),
    'three/SKILL.md': skillMd('three'),
    'three/nested/SKILL.md': BROKEN,
    'node_modules/other/SKILL.md': BROKEN,
    '.git/hooks/SKILL.md': BROKEN,
    'README.md': '# Not a skill\n',
  })

  const { answer, code } = await runJson<Report>(t, ['validate'], { cwd })
  assert.equal(code, 0)
  assert.deepEqual(
    answer.skills.map(({ path, name }) => [path, name]),
    [
      ['.claude/skills/one/SKILL.md', 'one'],
      ['packages/deep/down/two/skill.md', 'two'],
      ['three/SKILL.md', 'three'],
    ],
  )
  assert.deepEqual(
    answer.skills.flatMap(({ warnings }) => warnings.map(({ code, file }) => [code, file])),
    [['file_name_case', 'packages/deep/down/two/skill.md']],
  )
})

test('two skills of one name are a fault of the second', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'a/greet/SKILL.md': skillMd('greet'),
    'b/greet/SKILL.md': skillMd('greet'),
  })

  const { stdout, code } = await runCli(t, ['validate'], { cwd })
  assert.equal(code, 1)
  assert.match(stdout, /^b\/greet\/SKILL\.md:\d+:\d+: error name_conflict: the skill at "a\/greet/)
})

test('faults of other files stand at those files', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'greet/SKILL.md': skillMd('greet'),
    'greet/scripts/deploy.sh': '# deploy\necho \u202e\n',
  })
  await symlink('/etc/hostname', join(cwd, 'greet/host'))

  const { answer, code } = await runJson<Report>(t, ['validate'], { cwd })
  assert.equal(code, 1)
  const [skill] = answer.skills
  assert.deepEqual(
    skill?.errors.map(({ code, file }) => [code, file]),
    [['archive_link', 'greet/host']],
  )
  assert.deepEqual(
    skill?.warnings.map(({ code, file, line }) => [code, file, line]),
    [['hidden_unicode', 'greet/scripts/deploy.sh', 2]],
  )
})

test('the limits are those of the service, by the same settings', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, { 'greet/SKILL.md': skillMd('greet'), 'greet/a.txt': 'a'.repeat(3000) })
  const codesWith = async (env: Record<string, string>) => {
    const { answer } = await runJson<Report>(t, ['validate'], { cwd, env })
    return answer.skills.flatMap(({ errors }) => errors.map(({ code }) => code))
  }

  assert.deepEqual(await codesWith({}), [])
  assert.deepEqual(await codesWith({ MAX_BUNDLE_FILES: '1' }), ['archive_too_large'])
  assert.deepEqual(await codesWith({ MAX_FILE_BYTES: '10', MAX_SKILL_BYTES: '900' }), [
    'archive_too_large',
  ])
  const wrong = await runCli(t, ['validate'], { cwd, env: { MAX_FILE_BYTES: 'many' } })
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^loadskill: MAX_FILE_BYTES [^\n]+\n$/)
})

test('GitHub is told in its own words', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, { 'a,b/release-notes/SKILL.md': BROKEN })
  const annotation =
    /^::error file=a%2Cb\/release-notes\/SKILL\.md,line=3,col=14,title=frontmatter_yaml::the value of/

  const there = await runCli(t, ['validate'], { cwd, env: { GITHUB_ACTIONS: 'true' } })
  assert.equal(there.code, 1)
  assert.match(there.stdout, annotation)
  const asked = await runCli(t, ['validate', '--format', 'github'], { cwd })
  assert.match(asked.stdout, annotation)
})

test('a SKILL.md stands for its folder, and another file for itself', async (t) => {
  const cwd = await tempFolder(t)
  await writeFiles(cwd, {
    'greet/SKILL.md': skillMd('greet', 'Read [it](notes.md).'),
    'greet/notes.md': 'Notes.\n',
    'welcome.md': skillMd('greet-all'),
  })

  const { answer } = await runJson<Report>(t, ['validate', 'greet/SKILL.md', 'welcome.md'], { cwd })
  assert.deepEqual(
    answer.skills.map(({ path, name, warnings }) => [path, name, warnings]),
    [
      ['greet/SKILL.md', 'greet', []],
      ['welcome.md', 'greet-all', []],
    ],
  )
})

test('a folder without a skill is no success', async (t) => {
  const { code, stderr } = await runCli(t, ['validate'], { cwd: await tempFolder(t) })

  assert.equal(code, 2)
  assert.equal(stderr, 'loadskill: There is no SKILL.md in ".".\n')
})
