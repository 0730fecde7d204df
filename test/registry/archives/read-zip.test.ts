import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { readArchive } from '../../../src/registry/archives/read-archive.ts'
import { buildTestApp, get, skillMd } from '../../build-app.ts'
import { assertProblem, namesOf, send } from '../../requests.ts'
import { makeZip, type ZipEntry } from './make-zip.ts'
import { readAll } from './read-all.ts'

const headers = { 'content-type': 'application/zip' }
const skill: ZipEntry = { name: 'SKILL.md', data: skillMd('greet') }
const SYMLINK = 0o120777
const limits = { entries: 3, bytes: 1000 }

const withFile = (entry: ZipEntry) => makeZip([skill, entry])
const whole = withFile({ name: 'a.txt', data: 'some text', deflate: true })

const hostile: [what: string, code: string, zip: Buffer][] = [
  ['..', 'archive_path', withFile({ name: '../outside.txt' })],
  ['.. within', 'archive_path', withFile({ name: 'a/../../outside.txt' })],
  ['.. with \\', 'archive_path', withFile({ name: 'a\\..\\..\\outside.txt' })],
  ['absolute', 'archive_path', withFile({ name: '/etc/passwd' })],
  ['a drive', 'archive_path', withFile({ name: 'C:\\a.txt' })],
  ['a folder ..', 'archive_path', withFile({ name: '../a/' })],
  ['a folder .. by its mode', 'archive_path', withFile({ name: 'a/..', mode: 0o040755 })],
  ['an absolute folder', 'archive_path', withFile({ name: '/etc/' })],
  ['a folder on a drive', 'archive_path', withFile({ name: 'C:\\a\\' })],
  ['NUL, not cut there', 'archive_path', withFile({ name: 'a.txt\0.md' })],
  ['control characters', 'archive_path', withFile({ name: 'a\r\n\x1b[31m.txt' })],
  ['an empty name', 'archive_path', withFile({ name: '' })],
  ['a name that lies about UTF-8', 'archive_path', withFile({ name: Buffer.from([0xff, 0xfe]) })],
  ['depth', 'archive_path', withFile({ name: `${'d/'.repeat(20)}a` })],
  ['a long path', 'archive_path', withFile({ name: 'é'.repeat(200) })],
  ['a symbolic link', 'archive_link', withFile({ name: 'a', data: '/etc/passwd', mode: SYMLINK })],
  ['a device', 'archive_link', withFile({ name: 'a', mode: 0o020666 })],
  ['a FIFO', 'archive_link', withFile({ name: 'a', mode: 0o010644 })],
  ['a link as the skill', 'archive_link', makeZip([{ ...skill, mode: SYMLINK }])],
  ['an encrypted file', 'archive_encrypted', withFile({ name: 'a', data: 'x', flags: 0x801 })],
  ['strong encryption', 'archive_encrypted', withFile({ name: 'a', data: 'x', flags: 0x841 })],
  ['another checksum', 'archive_corrupt', withFile({ name: 'a', data: 'x', crc: 1 })],
  [
    'a larger file',
    'archive_corrupt',
    withFile({ name: 'a', data: 'x'.repeat(99), size: 1, deflate: true }),
  ],
  [
    'a smaller file',
    'archive_corrupt',
    withFile({ name: 'a', data: 'x', size: 50, deflate: true }),
  ],
  ['a method that is not known', 'archive_corrupt', withFile({ name: 'a', data: 'x', method: 99 })],
  ['no deflate', 'archive_corrupt', withFile({ name: 'a', data: '\xff\xff\xff', method: 8 })],
  ['a folder and a file', 'archive_duplicate', makeZip([skill, { name: 'a' }, { name: 'a/b' }])],
  ['two of one name', 'archive_duplicate', makeZip([skill, { name: 'a' }, { name: 'a' }])],
  [
    'names that differ in case',
    'archive_duplicate',
    makeZip([skill, { name: 'a' }, { name: 'A' }]),
  ],
  ['composition', 'archive_duplicate', makeZip([skill, { name: 'é' }, { name: 'e\u0301' }])],
  ['no end', 'archive_corrupt', whole.subarray(0, whole.length - 22)],
  ['no directory', 'archive_corrupt', whole.subarray(0, 60)],
  ['no beginning', 'archive_corrupt', whole.subarray(20)],
  ['more entries than there are', 'archive_corrupt', makeZip([skill], { count: 9 })],
  ['text', 'archive_corrupt', Buffer.from('this is no archive, but a few words')],
  ['nothing', 'archive_corrupt', Buffer.alloc(0)],
  ['no files', 'archive_no_skill', makeZip([])],
]

test('a hostile or damaged zip is refused whole, with its code', async (t) => {
  const app = await buildTestApp(t)
  for (const [what, code, payload] of hostile) {
    const response = await send(app, 'POST', '/skills', { payload, headers })
    assert.equal(response.json().code, code, `${what}: ${response.body}`)
    const problem = assertProblem(response, 422, code)
    assert.doesNotMatch(problem.detail, /\p{Cc}/u, what)
    const checked = await send(app, 'POST', '/skills/validate', { payload, headers })
    assert.equal(checked.json().errors[0].code, code, what)
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('a refusal names the entry', async (t) => {
  const app = await buildTestApp(t)
  const payload = withFile({ name: 'docs/a.md', data: 'x', crc: 1 })
  const problem = assertProblem(
    await send(app, 'POST', '/skills', { payload, headers }),
    422,
    'archive_corrupt',
  )
  assert.equal(problem.errors[0].file, 'docs/a.md')
})

test('bombs are refused as too large, by what they say or by what they are', async (t) => {
  const app = await buildTestApp(t)
  const zeros = Buffer.alloc(1 << 20)
  const packed = deflateRawSync(Buffer.alloc(64 << 20), { level: 9 })
  const part = { data: packed, method: 8, size: 64 << 20 }
  const gigabyte = Array.from({ length: 16 }, (_, i) => ({ ...part, name: `b${i}` }))
  const entries = Array.from({ length: 100_000 }, (_, i) => ({ name: `f/${i}` }))
  for (const [what, payload] of [
    ['a gigabyte', makeZip([skill, ...gigabyte])],
    ['a ratio of 1000', withFile({ name: 'zeros', data: zeros, deflate: true })],
    ['100,000 entries', makeZip(entries)],
    ['65,535 entries, by its word', makeZip([skill], { count: 65_534 })],
  ] as const) {
    const response = await send(app, 'POST', '/skills', { payload, headers })
    assert.equal(response.statusCode, 413, `${what}: ${response.body}`)
    assertProblem(response, 413, 'archive_too_large')
  }
  assert.deepEqual(namesOf(await get(app, '/skills')), [])
})

test('a bomb that lies about its size is damaged, and not inflated', async (t) => {
  const app = await buildTestApp(t)
  const packed = deflateRawSync(Buffer.alloc(64 << 20), { level: 9 })
  const payload = withFile({ name: 'a', data: packed, method: 8, size: 10 })
  const response = await send(app, 'POST', '/skills', { payload, headers })
  assertProblem(response, 422, 'archive_corrupt')
})

test('the limits are those that are given', async () => {
  const three = makeZip([skill, { name: 'a' }, { name: 'b' }])
  assert.equal((await readArchive(three, 'zip', limits)).entries.length, 3)
  const four = makeZip([skill, { name: 'a' }, { name: 'b' }, { name: 'c' }])
  await assert.rejects(readArchive(four, 'zip', limits), { code: 'archive_too_large' })
  const large = withFile({ name: 'a', data: 'x'.repeat(1000) })
  await assert.rejects(readArchive(large, 'zip', limits), { code: 'archive_too_large' })
})

test('folders are not files, and names are read as they were written', async () => {
  const names = [
    'dir/',
    'dir\\',
    '__MACOSX/',
    'größe.md',
    Buffer.from([0x81, 0x2e, 0x6d, 0x64]),
    'dir/名.md',
  ]
  const zip = makeZip(names.map((name) => ({ name, flags: 0 })))
  const { entries } = await readArchive(zip, 'zip', { entries: 9, bytes: 1000 })
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['größe.md', 'ü.md', 'dir/名.md'],
  )
})

test('files come one at a time, with their bytes, as often as asked', async () => {
  const files = { 'a/1.txt': new Uint8Array([1, 2, 3]), 'b.bin': new Uint8Array(5000).fill(7, 9) }
  const zip = Buffer.from(zipSync({ ...files, 'b.bin': [files['b.bin'], { level: 0 }] }))
  const archive = await readArchive(zip, 'zip', { entries: 9, bytes: 10_000 })
  for (const _ of [1, 2]) {
    const read = await readAll(archive)
    assert.deepEqual(
      Object.fromEntries(read.map(({ path, bytes }) => [path, new Uint8Array(bytes)])),
      files,
    )
  }
})
