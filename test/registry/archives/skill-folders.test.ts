import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { findSkillFolders } from '../../../src/registry/archives/skill-folders.ts'

/** For each skill the files that are its own. */
function group(...paths: string[]) {
  const { folders, find, skipped } = findSkillFolders(paths)
  const skills = folders.map(({ folder, path, count }) => {
    const files = paths.flatMap((file) => {
      const place = find(file)
      return place?.folder.folder === folder ? [place.path] : []
    })
    assert.equal(files.length, count)
    return [folder, path, files]
  })
  return { skills, skipped }
}

function codeOf(...paths: string[]): string {
  try {
    findSkillFolders(paths)
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return 'none'
}

test('each folder with a SKILL.md is a skill, in code-point order, wherever it lies', () => {
  assert.deepEqual(group('all/b/SKILL.md', 'all/b/x/y.py', 'all/a-b/SKILL.md', 'all/a/SKILL.md'), {
    skills: [
      ['all/a', 'all/a/SKILL.md', ['SKILL.md']],
      ['all/a-b', 'all/a-b/SKILL.md', ['SKILL.md']],
      ['all/b', 'all/b/SKILL.md', ['SKILL.md', 'x/y.py']],
    ],
    skipped: [],
  })
})

test('a SKILL.md below the folder of another skill is one of its files', () => {
  assert.deepEqual(group('one/examples/SKILL.md', 'one/SKILL.md', 'one/a/b/c/SKILL.md').skills, [
    ['one', 'one/SKILL.md', ['examples/SKILL.md', 'SKILL.md', 'a/b/c/SKILL.md']],
  ])
})

test('a SKILL.md at the root makes the whole one skill', () => {
  assert.deepEqual(group('SKILL.md', 'one/SKILL.md', 'README.md').skills, [
    ['', 'SKILL.md', ['SKILL.md', 'one/SKILL.md', 'README.md']],
  ])
})

test('files of no skill are skipped, and so is what file managers leave', () => {
  const { skills, skipped } = group(
    ...['README.md', 'skills/LICENSE', 'skills/one/SKILL.md', 'skills/one/.DS_Store'],
    ...['__MACOSX/skills/one/._SKILL.md', '.git/one/SKILL.md', 'skills/one.txt'],
  )
  assert.deepEqual(skills, [['skills/one', 'skills/one/SKILL.md', ['SKILL.md']]])
  assert.deepEqual(skipped, [
    ...['README.md', 'skills/LICENSE', 'skills/one/.DS_Store', '__MACOSX/skills/one/._SKILL.md'],
    ...['.git/one/SKILL.md', 'skills/one.txt'],
  ])
})

test('backslashes and a leading ./ make no difference', () => {
  assert.deepEqual(group('.\\one\\SKILL.md', './one/a.txt', 'one\\b\\c.txt').skills, [
    ['one', 'one/SKILL.md', ['SKILL.md', 'a.txt', 'b/c.txt']],
  ])
})

test('a path that leads elsewhere is one of the skill that it begins in', () => {
  assert.deepEqual(group('one/SKILL.md', 'one/../../x', 'one/..', 'one/../two/SKILL.md').skills, [
    ['one', 'one/SKILL.md', ['SKILL.md', '../../x', '..', '../two/SKILL.md']],
  ])
})

test('a path that leads elsewhere from no skill refuses the whole archive', () => {
  const skills = ['../two/SKILL.md', 'two/../three/SKILL.md', '/two/SKILL.md', 'C:\\two\\SKILL.md']
  for (const path of ['../x', '/etc/x', 'C:\\x', 'two/..', '\\x', 'a\\..\\b', ...skills]) {
    assert.equal(codeOf('one/SKILL.md', path), 'archive_path', path)
  }
  for (const folder of ['a//b', 'a\0', 'a\nb/c']) {
    assert.equal(codeOf('one/SKILL.md', `${folder}/SKILL.md`), 'archive_path', folder)
  }
})

test('files without any SKILL.md are no import; no files at all are an empty one', () => {
  assert.equal(codeOf('README.md', 'one/readme.md'), 'archive_no_skill')
  assert.deepEqual(group(), { skills: [], skipped: [] })
  assert.deepEqual(group('.DS_Store'), { skills: [], skipped: ['.DS_Store'] })
})

test('folders without end are told apart in a moment', () => {
  const deep = 'a/'.repeat(30_000)
  const paths = Array.from({ length: 200 }, (_, at) => `${deep}${at}`)
  const { skills, skipped } = group('one/SKILL.md', `${deep}SKILL.md`, ...paths)
  assert.deepEqual([skills.length, skipped.length], [1, 201])
})
