import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { BundleFile } from '../../../src/domain/skill.ts'
import { readArchive } from '../../../src/registry/archives/read-archive.ts'
import { refuseBeyondZip, writeArchive } from '../../../src/registry/archives/write-archive.ts'
import { tempFolder } from '../../temp-folder.ts'
import { readAll } from './read-all.ts'

const run = promisify(execFile)
const FORMATS = ['zip', 'tgz'] as const
const limits = { entries: 1000, bytes: 64 * 1024 * 1024 }

const noise = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * i * 31) >>> 7))
const deep = `greet/${'long-folder-name/'.repeat(12)}${'n'.repeat(40)}.txt`
const files: BundleFile[] = [
  { path: 'greet/SKILL.md', bytes: Buffer.from('---\nname: greet\n---\n') },
  { path: 'greet/empty', bytes: Buffer.alloc(0) },
  { path: 'greet/block', bytes: noise(512) },
  { path: 'greet/größe 名.txt', bytes: Buffer.from('Größe') },
  { path: 'greet/large.bin', bytes: noise(300_001) },
  { path: 'greet/zeros.bin', bytes: Buffer.alloc(2_000_000) },
  { path: deep, bytes: Buffer.from('deep') },
]
const pack = (format: 'zip' | 'tgz', given: Iterable<BundleFile> = files) =>
  buffer(writeArchive(format, given))

async function unpack(format: 'zip' | 'tgz', bytes: Buffer) {
  const read = await readAll(await readArchive(bytes, format, limits))
  return read.map((file) => [file.path, Buffer.from(file.bytes)])
}

for (const format of FORMATS) {
  test(`a ${format} gives back every file in the order given`, async () => {
    const unpacked = await unpack(format, await pack(format))
    assert.deepEqual(
      unpacked,
      files.map(({ path, bytes }) => [path, bytes]),
    )
  })

  test(`a ${format} of nothing is one that can be read`, async () => {
    assert.deepEqual(await unpack(format, await pack(format, [])), [])
  })

  test(`a ${format} of zeros alone is not taken for a bomb`, async () => {
    const zeros = [{ path: 'greet/zeros.bin', bytes: Buffer.alloc(16_000_000) }]
    const [[path, bytes] = []] = await unpack(format, await pack(format, zeros))
    assert.deepEqual([path, bytes?.length], ['greet/zeros.bin', 16_000_000])
  })

  test(`a ${format} has the same bytes each time, in every time zone`, async () => {
    const first = await pack(format)
    assert.ok((await pack(format)).equals(first))
    const module = new URL('../../../src/registry/archives/write-archive.ts', import.meta.url)
    const script = `
      import { buffer } from 'node:stream/consumers'
      import { writeArchive } from ${JSON.stringify(module.href)}
      const bytes = await buffer(writeArchive('${format}', [{ path: 'a/b', bytes: Buffer.from('c') }]))
      process.stdout.write(bytes.toString('hex'))`
    const inZone = async (TZ: string) =>
      (
        await run(process.execPath, ['--input-type=module', '-e', script], {
          env: { ...process.env, TZ },
        })
      ).stdout
    assert.equal(await inZone('Pacific/Kiritimati'), await inZone('America/Los_Angeles'))
  })

  test(`a ${format} asks for no more files than its reader takes`, async () => {
    let asked = 0
    async function* endless(): AsyncGenerator<BundleFile> {
      for (; ; asked++) yield { path: `a/${asked}`, bytes: noise(100_000) }
    }
    const stream = writeArchive(format, endless())
    await new Promise((resolve) => stream.once('readable', resolve))
    const before = asked
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(before < 20 && asked === before)
    stream.destroy()
  })

  test(`a ${format} breaks off when a file cannot be read`, async () => {
    async function* failing(): AsyncGenerator<BundleFile> {
      yield { path: 'a/b', bytes: Buffer.from('c') }
      throw new Error('The file is gone.')
    }
    await assert.rejects(buffer(writeArchive(format, failing())), /The file is gone/)
  })
}

async function unpackWith(t: TestContext, format: 'zip' | 'tgz', command: string, args: string[]) {
  const folder = await tempFolder(t)
  const archive = join(folder, `skills.${format}`)
  await writeFile(archive, await pack(format))
  try {
    await run(command, [...args, archive], { cwd: folder })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return t.skip(`there is no ${command}`)
  }
  for (const { path, bytes } of files) {
    assert.ok((await readFile(join(folder, path))).equals(bytes), path)
  }
}

test('what a zip cannot hold is refused, with the way out', () => {
  refuseBeyondZip({ files: 65_535, bytes: 1e9 })
  refuseBeyondZip({ files: 1, bytes: 2 ** 32 - 2000 })
  for (const plan of [
    { files: 65_536, bytes: 1 },
    { files: 1, bytes: 2 ** 32 },
    { files: 60_000, bytes: 2 ** 32 - 30_000_000 },
  ]) {
    assert.throws(() => refuseBeyondZip(plan), { code: 'archive_too_large', message: /format=tgz/ })
  }
})

test('unzip unpacks a zip', (t) => unpackWith(t, 'zip', 'unzip', ['-q']))

test('tar unpacks a tgz', (t) => unpackWith(t, 'tgz', 'tar', ['-xzf']))
