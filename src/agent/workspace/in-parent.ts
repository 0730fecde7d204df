import { constants } from 'node:fs'
import { type FileHandle, lchown, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { showPath } from '../../domain/show-path.ts'
import { ToolError } from '../tool.ts'
import { checkPath } from './check-path.ts'
import type { Owner } from './folders.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** An open folder of a workspace. */
interface Folder {
  handle: FileHandle
  path: string
}

export interface Entry {
  /** The file's own path in the open folder that holds it. */
  path: string
  /** Of another name in the same folder. */
  beside(name: string): string
}

interface Options {
  /** The folder of the workspace. */
  workspace: string
  /** Folders that are missing on the way are made, and belong to the owner, if there is one. */
  make?: { owner: Owner | undefined }
}

/**
 * Works on a file by the folder that holds it, opened part by part without following a link: a
 * command that runs meanwhile can exchange neither for something outside.
 */
export async function inParent<Result>(
  path: string,
  { workspace, make }: Options,
  work: (entry: Entry) => Promise<Result>,
): Promise<Result> {
  const parts = checkPath(path)
  const name = parts.pop()
  if (name === undefined) throw new ToolError(`The path "${showPath(path)}" names no file.`)
  let folder: Folder | undefined
  try {
    folder = await openFolder(workspace)
    for (const part of parts) {
      const next = childOf(folder, part)
      if (make) await makeFolder(next, make.owner)
      const child = await openFolder(next, join(folder.path, part))
      await folder.handle.close()
      folder = child
    }
    const { path: parentPath, handle } = folder
    const beside = (other: string) => childOf({ path: parentPath, handle }, other)
    return await work({ path: beside(name), beside })
  } catch (error) {
    throw explain(error, path)
  } finally {
    await folder?.handle.close()
  }
}

const openFolder = async (at: string, path = at): Promise<Folder> => ({
  handle: await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
  path,
})

/** On Linux, a path through the open folder itself, wherever that has been moved to. */
const childOf = ({ handle, path }: Folder, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)

async function makeFolder(path: string, owner: Owner | undefined): Promise<void> {
  try {
    await mkdir(path)
    if (owner) await lchown(path, owner.uid, owner.gid)
  } catch (error) {
    if (Object(error).code !== 'EEXIST') throw error
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'There is no file PATH.',
  ELOOP: 'PATH is a link, and links are not followed.',
  ENOTDIR: 'A part of PATH is no folder, or a link, and links are not followed.',
  EISDIR: 'PATH is a folder.',
  ENAMETOOLONG: 'A name in PATH is too long.',
  EACCES: 'The permissions of PATH do not allow it.',
  EPERM: 'The permissions of PATH do not allow it.',
  ENOSPC: 'There is no space left for PATH.',
  EDQUOT: 'There is no space left for PATH.',
  ENXIO: 'PATH is no regular file.',
}

function explain(error: unknown, path: string): unknown {
  const reason = REASONS[String(Object(error).code)]
  return reason === undefined
    ? error
    : new ToolError(reason.replace('PATH', () => `"${showPath(path)}"`))
}
