import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { ToolError } from '../tool.ts'
import type { Owner } from './folders.ts'
import type { Entry } from './in-parent.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
const MAX_FILE_BYTES = 10 * 1024 * 1024

/** Does not wait for whoever may write into a pipe. */
export async function readBytes({ path }: Entry): Promise<Buffer> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (found.isDirectory()) throw new ToolError('The path is that of a folder.')
    if (!found.isFile()) throw new ToolError('The path is not that of a regular file.')
    checkSize(found.size)
    return await readUpTo(handle, MAX_FILE_BYTES)
  } finally {
    await handle.close()
  }
}

/** A file may grow while it is read. */
async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of handle.createReadStream({ end: limit, autoClose: false })) {
    size += chunk.length
    checkSize(size)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** All or nothing; the permissions of a file that is there stay. */
export async function writeBytes(
  { path, beside }: Entry,
  bytes: Buffer,
  owner: Owner | undefined,
): Promise<void> {
  checkSize(bytes.length)
  const before = await lstat(path).catch(() => undefined)
  if (before?.isSymbolicLink()) throw new ToolError('The path is that of a link: not followed.')
  if (before && !before.isFile()) throw new ToolError('The path is not that of a regular file.')

  const unfinished = beside(`.${randomUUID()}`)
  const handle = await open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.chmod((before?.mode ?? 0o644) & 0o777)
    if (owner) await handle.chown(owner.uid, owner.gid)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

function checkSize(size: number): void {
  if (size <= MAX_FILE_BYTES) return
  throw new ToolError(`The file has ${size} bytes, of ${MAX_FILE_BYTES} allowed.`)
}
