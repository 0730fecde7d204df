import { type ToolContext, ToolError } from '../tool.ts'
import { folderSize } from './folder-size.ts'
import { folderOf, makeFolder, type Owner } from './folders.ts'
import type { InTurn } from './queues.ts'

/** What a conversation's files may take, counted in blocks on the disk. */
export const MAX_FOLDER_BYTES = 1024 ** 3

export interface Log {
  warn(fields: object, message: string): void
}

/** What the tools share. */
export interface Workspaces {
  owner: Owner | undefined
  /**
   * Works in the folder of the conversation, while no other call does: a file that is written in
   * the same answer as the command that needs it is there when the command begins.
   */
  enter<Result>(context: ToolContext, work: (folder: string) => Promise<Result>): Promise<Result>
}

interface WorkspacesOptions {
  /** The folder of all workspaces. */
  root: string
  owner: Owner | undefined
  inTurn: InTurn
  log: Log
}

export const createWorkspaces = ({ root, owner, inTurn, log }: WorkspacesOptions): Workspaces => ({
  owner,
  enter: ({ conversationId, signal }, work) =>
    inTurn(conversationId, async () => {
      signal.throwIfAborted()
      const folder = folderOf(root, conversationId)
      try {
        await makeFolder(folder, owner)
        return await work(folder)
      } catch (error) {
        throw explain(error, log)
      }
    }),
})

/** What the system refuses, as for want of space, need not end a turn. */
function explain(error: unknown, log: Log): unknown {
  const { code, syscall } = Object(error)
  if (syscall === undefined) return error
  log.warn({ err: error }, 'workspace not usable')
  return new ToolError(`The workspace cannot be used now (${code}).`)
}

export const isFull = async (folder: string, limit = MAX_FOLDER_BYTES): Promise<boolean> =>
  (await folderSize(folder, limit)) > limit
