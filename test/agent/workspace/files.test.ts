import assert from 'node:assert/strict'
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openTestWorkspace } from './open-test-workspace.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1).join('\n')

suite('files of a workspace', () => {
  test('are written with the folders on their way, and counted in bytes', async (t) => {
    const { call, folder } = await openTestWorkspace(t)
    const written = await call('write_file', { path: './a//b/ü.txt', content: 'größe 🎈' })
    assert.equal(written, 'Wrote 12 bytes to ./a//b/ü.txt.')
    assert.equal(await readFile(join(folder, 'a/b/ü.txt'), 'utf8'), 'größe 🎈')
    assert.equal(await call('read_file', { path: 'a/b/ü.txt' }), 'größe 🎈')
    await call('write_file', { path: 'a/b/ü.txt', content: '' })
    assert.equal(await call('read_file', { path: 'a/b/ü.txt' }), '')
    assert.deepEqual(await readdir(join(folder, 'a/b')), ['ü.txt'])
  })

  test('keep their permissions when they are replaced', async (t) => {
    const { call, folder } = await openTestWorkspace(t)
    await call('write_file', { path: 'x.sh', content: 'old' })
    await chmod(join(folder, 'x.sh'), 0o755)
    await call('edit_file', { path: 'x.sh', old_text: 'old', new_text: 'new' })
    assert.equal((await stat(join(folder, 'x.sh'))).mode & 0o777, 0o755)
  })

  const ranges: [range: object, text: string][] = [
    [{}, `${numbers(2000)}\n… (1000 more lines)`],
    [{ limit: 2 }, '1\n2\n… (2998 more lines)'],
    [{ offset: 2999 }, '2999\n3000'],
    [{ offset: 2998, limit: 1 }, '2998\n… (2 more lines)'],
    [{ offset: 4000 }, ''],
  ]
  test('are read by lines, with the number of those left', async (t) => {
    const { call } = await openTestWorkspace(t)
    await call('write_file', { path: 'n', content: numbers(3000) })
    for (const [range, text] of ranges) {
      assert.equal(await call('read_file', { path: 'n', ...range }), text, JSON.stringify(range))
    }
  })

  test('are edited where a text occurs once', async (t) => {
    const { call, fault, folder } = await openTestWorkspace(t)
    const text = '\ufeffone $& two\r\nthree\r\nthree\r\n'
    await call('write_file', { path: 'a', content: text })
    const edit = (old_text: string, new_text: string) => ({ path: 'a', old_text, new_text })
    assert.match(await call('edit_file', edit('two\r\n', "$' $1\r\n")), /at line 1 of a/)
    assert.match(await fault('edit_file', edit('four', 'x')), /does not contain/)
    assert.match(await fault('edit_file', edit('three', 'x')), /occurs 2 times .* at lines 2, 3:/)
    assert.match(await fault('edit_file', edit('', 'x')), /old_text is empty/)
    assert.match(await fault('edit_file', { ...edit('a', 'b'), path: 'none' }), /no file "none"/)
    assert.equal(
      await readFile(join(folder, 'a'), 'utf8'),
      text.replace('two', () => "$' $1"),
    )
  })

  test('keep every edit of those that come at once', async (t) => {
    const { call } = await openTestWorkspace(t)
    const words = Array.from({ length: 20 }, (_, at) => `word-${at};`)
    await call('write_file', { path: 'a', content: words.join('\n') })
    const edits = words.map((word) => ({ path: 'a', old_text: word, new_text: `new ${word}` }))
    await Promise.all(edits.map((edit) => call('edit_file', edit)))
    const text = words.map((word) => `new ${word}`).join('\n')
    assert.equal(await call('read_file', { path: 'a' }), text)
  })

  const refused: [path: string, why: RegExp][] = [
    ['/etc/passwd', /is absolute/],
    ['/workspace/a', /is absolute/],
    ['/skills/pdf/a.md', /read it with read_skill_file/],
    ['C:/a', /drive letter/],
    ['c:a', /drive letter/],
    ['..', /leaves the workspace/],
    ['a/../../b', /leaves the workspace/],
    ['a/../b', /leaves the workspace/],
    ['..\\a', /backslash/],
    ['a\0b', /NUL/],
    ['\ud800', /half of a character/],
    ['', /names no file/],
    ['.', /names no file/],
    ['./', /names no file/],
    ['x'.repeat(300), /too long/],
    ['file/below', /no folder/],
    ['link', /link/],
    ['folder-link/file', /link/],
  ]
  test('stay within the workspace', async (t) => {
    const { call, fault, folder, directory } = await openTestWorkspace(t)
    await call('write_file', { path: 'file', content: 'text' })
    await mkdir(join(directory, 'outside'))
    await writeFile(join(directory, 'outside', 'file'), 'outside')
    await symlink(join(directory, 'outside', 'file'), join(folder, 'link'))
    await symlink(join(directory, 'outside'), join(folder, 'folder-link'))
    for (const [path, why] of refused) {
      assert.match(await fault('read_file', { path }), why, path)
      assert.match(await fault('write_file', { path, content: 'x' }), why, path)
      assert.match(await fault('edit_file', { path, old_text: 'o', new_text: 'x' }), why, path)
    }
    assert.equal(await readFile(join(directory, 'outside', 'file'), 'utf8'), 'outside')
    assert.deepEqual((await readdir(folder)).sort(), ['file', 'folder-link', 'link'])
  })

  test('that are no text, too large or missing are told of', async (t) => {
    const { call, fault, folder } = await openTestWorkspace(t)
    await call('write_file', { path: 'folder/huge', content: '' })
    await writeFile(join(folder, 'bytes'), Buffer.from([0x61, 0xff]))
    await truncate(join(folder, 'folder/huge'), 11 * 1024 * 1024)
    assert.match(await fault('read_file', { path: 'bytes' }), /not a text file \(2 bytes\)/)
    assert.match(await fault('read_file', { path: 'folder/huge' }), /of 10485760 allowed/)
    assert.match(await fault('read_file', { path: 'folder/none' }), /no file "folder\/none"/)
    assert.match(await fault('read_file', { path: 'none/a' }), /no file "none\/a"/)
    assert.match(await fault('read_file', { path: 'folder' }), /of a folder/)
    assert.match(await fault('write_file', { path: 'folder', content: '' }), /regular file/)
    const huge = { path: 'b', content: 'ü'.repeat(6 * 1024 * 1024) }
    assert.match(await fault('write_file', huge), /12582912 bytes, of 10485760 allowed/)
    assert.deepEqual((await readdir(folder)).sort(), ['bytes', 'folder'])
  })

  test('cannot be worked on where the folder cannot be made', async (t) => {
    const { call, fault, directory, folder } = await openTestWorkspace(t)
    await writeFile(folder, 'in the way')
    assert.match(await fault('glob', { pattern: '*' }), /cannot be used now \(EEXIST\)/)
    await rm(directory, { recursive: true })
    assert.equal(await call('write_file', { path: 'a', content: 'x' }), 'Wrote 1 bytes to a.')
  })

  test('are those of an id of a conversation alone', async (t) => {
    const { call, directory } = await openTestWorkspace(t)
    for (const conversationId of ['', '..', '.skills', 'conv_../x', 'turn_00000001']) {
      const written = call('write_file', { path: 'a', content: 'x' }, { conversationId })
      await assert.rejects(written, /is not the id of a conversation/, conversationId)
    }
    assert.deepEqual(
      (await readdir(directory)).filter((name) => !name.startsWith('.')),
      [],
    )
  })
})

suite('glob', () => {
  const files = ['b.py', 'a.py', 'src/c.py', 'src/deep/d.py', 'src/d.ts', '.git/e.py', 'ü.md']
  const patterns: [pattern: string, found: string[]][] = [
    ['**/*.py', ['a.py', 'b.py', 'src/c.py', 'src/deep/d.py']],
    ['*.py', ['a.py', 'b.py']],
    ['./*.py', ['a.py', 'b.py']],
    ['src/*', ['src/c.py', 'src/d.ts', 'src/deep']],
    ['src/**/*.{py,ts}', ['src/c.py', 'src/d.ts', 'src/deep/d.py']],
    ['.git/*', ['.git/e.py']],
    ['[ab].py', ['a.py', 'b.py']],
    ['?.md', ['ü.md']],
    ['*.PY', ['(no matches)']],
    ['none/**', ['(no matches)']],
  ]
  test('finds files and folders in the workspace, sorted', async (t) => {
    const { call } = await openTestWorkspace(t)
    assert.equal(await call('glob', { pattern: '**' }), '(no matches)')
    for (const path of files) await call('write_file', { path, content: '' })
    for (const [pattern, found] of patterns) {
      assert.equal(await call('glob', { pattern }), found.join('\n'), pattern)
    }
  })

  test('shows two hundred paths, and how many there are more', async (t) => {
    const { call, folder } = await openTestWorkspace(t)
    await call('write_file', { path: 'f0', content: '' })
    for (let at = 1; at < 250; at += 1) await writeFile(join(folder, `f${at}`), '')
    const lines = (await call('glob', { pattern: 'f*' })).split('\n')
    assert.deepEqual([lines.length, lines.at(-1)], [201, '… (50 more omitted)'])
  })

  test('refuses what leads outside, and follows no link', async (t) => {
    const { call, fault, folder } = await openTestWorkspace(t)
    await call('write_file', { path: 'a/b', content: '' })
    await symlink('/etc', join(folder, 'etc'))
    await symlink('.', join(folder, 'a', 'again'))
    assert.equal(await call('glob', { pattern: '**' }), 'a\na/b')
    assert.equal(await call('glob', { pattern: 'etc/*' }), '(no matches)')
    for (const pattern of ['/etc/*', '../*', 'a/../../*', 'C:/*', '..\\*', 'a\0']) {
      assert.match(await fault('glob', { pattern }), /^The path /, pattern)
    }
  })

  test('stops a pattern that would take for ever', async (t) => {
    const { call, fault, folder } = await openTestWorkspace(t)
    await call('write_file', { path: 'a', content: '' })
    for (let at = 0; at < 20; at += 1) await writeFile(join(folder, `${'a'.repeat(200)}${at}`), '')
    const slow = { pattern: `${'*a'.repeat(20)}b` }
    assert.match(await fault('glob', slow), /Try a simpler one/)
    assert.match(await fault('glob', { pattern: 'x'.repeat(501) }), /too long/)
    const huge = { pattern: '{1..100000000}{1..100000000}' }
    assert.equal(await call('glob', huge), '(no matches)')
  })
})
