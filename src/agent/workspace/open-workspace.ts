import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { SkillStore } from '../../store/skills.ts'
import type { ToolSource } from '../tool.ts'
import { bash } from './bash.ts'
import { editFile } from './edit-file.ts'
import { folderOf, removeTree } from './folders.ts'
import { glob } from './glob.ts'
import { createQueues } from './queues.ts'
import { readFile } from './read-file.ts'
import { openSandbox } from './sandbox.ts'
import { createSkillFolders } from './skill-folders.ts'
import { createWorkspaces, type Log } from './workspaces.ts'
import { writeFile } from './write-file.ts'

interface WorkspaceOptions {
  /** Holds a folder for each conversation; made when it is not there. */
  directory: string
  /** After how many milliseconds a command is killed. */
  bashTimeoutMs: number
  skills: Pick<SkillStore, 'findVersion' | 'readFile'>
  /**
   * Folders that no command may see. It sees nothing of the host but its programs, so that only
   * those below `/usr` matter, as of a service that is installed there.
   */
  hidden?: readonly string[]
  log: Log
}

/** Files and commands for conversations, each in a folder of its own. */
export interface Workspace {
  tools: ToolSource
  /** In one line, why bash is not offered. */
  problem: string | undefined
  /** For a conversation that is deleted; nothing happens when it has no folder. */
  removeFolder(conversationId: string): Promise<void>
  /** Resolves once nothing that was started runs any more. */
  close(): Promise<void>
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { directory, bashTimeoutMs: timeoutMs, skills, hidden = [], log } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const root = await realpath(directory)
  const { sandbox, problem } = await openSandbox({ root, hidden })
  if (problem !== undefined) log.warn({ problem }, 'bash not offered')

  const closing = new AbortController()
  const queues = createQueues()
  const workspaces = createWorkspaces({
    root,
    owner: sandbox?.owner,
    inTurn: queues.inTurn,
    log,
  })
  const skillFolders = createSkillFolders(join(root, '.skills'), skills)
  const fileTools = [readFile, writeFile, editFile, glob].map((tool) => tool(workspaces))

  return {
    problem,
    tools: {
      async tools({ loads }) {
        if (!sandbox) return fileTools
        const surroundings = { workspaces, sandbox, timeoutMs, closing: closing.signal }
        return [bash({ ...surroundings, skillFolders: () => skillFolders(loads) }), ...fileTools]
      },
    },
    removeFolder: (conversationId) =>
      queues.inTurn(conversationId, () => removeTree(folderOf(root, conversationId))),
    async close() {
      closing.abort(new Error('the service is shutting down'))
      await queues.settled()
    },
  }
}
