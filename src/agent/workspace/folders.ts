import { execFile } from 'node:child_process'
import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toSeq } from '../../store/ids.ts'

const execute = promisify(execFile)

/** Whose the files of a workspace are, where that is not the user of the service. */
export interface Owner {
  uid: number
  gid: number
}

/** Where the files of a conversation are. */
export function folderOf(root: string, conversationId: string): string {
  if (toSeq('conv', conversationId) === 0) {
    throw new Error(`"${conversationId}" is not the id of a conversation`)
  }
  return join(root, conversationId)
}

export async function makeFolder(folder: string, owner: Owner | undefined): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (owner) await chown(folder, owner.uid, owner.gid)
}

/** Removes what a command may have made unreadable or nested beyond any path's length, too. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    // Neither follows a link that it meets below the folder.
    await execute('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => undefined)
    await execute('rm', ['-rf', '--', folder])
  }
}
