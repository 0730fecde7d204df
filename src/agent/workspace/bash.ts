import { asksFirst, refusedCommand } from '../../domain/command-rules.ts'
import { type Tool, ToolError } from '../tool.ts'
import { folderSize } from './folder-size.ts'
import type { Ended } from './run-program.ts'
import type { Sandbox } from './sandbox.ts'
import { isFull, MAX_FOLDER_BYTES, type Workspaces } from './workspaces.ts'

/** What the kernel takes as one argument, with some room. */
const MAX_COMMAND_BYTES = 120_000
const MIN_TIMEOUT_MS = 100
const MAX_ERROR_CHARACTERS = 40_000

interface Surroundings {
  workspaces: Workspaces
  sandbox: Sandbox
  timeoutMs: number
  /** The folders of the loaded skills, by name. */
  skillFolders(): Promise<ReadonlyMap<string, string>>
  /** Aborted when the service ends. */
  closing: AbortSignal
}

export const bash = (surroundings: Surroundings): Tool => ({
  name: 'bash',
  description:
    'Run a command of bash in the workspace, without a network. The files of each loaded skill are at /skills/NAME. What the command leaves running ends with it, and only files in the workspace stay.',
  inputSchema: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, description: 'The command' },
      timeout_ms: {
        type: 'integer',
        minimum: Math.min(MIN_TIMEOUT_MS, surroundings.timeoutMs),
        maximum: surroundings.timeoutMs,
        description: `After how many milliseconds it is killed; ${surroundings.timeoutMs} if left out`,
      },
    },
    required: ['command'],
    additionalProperties: false,
  },
  refusal: ({ command }) => refusedCommand(String(command)),
  needsApproval: ({ command }) => asksFirst(String(command)),

  async run(input, context) {
    const { workspaces, sandbox, skillFolders, closing } = surroundings
    const command = checkCommand(String(input.command))
    const timeoutMs = Number(input.timeout_ms ?? surroundings.timeoutMs)
    return await workspaces.enter(context, async (workspace) => {
      const skills = await skillFolders()
      // Full already, it may still be emptied.
      const limit = Math.max(MAX_FOLDER_BYTES, await folderSize(workspace, Number.MAX_VALUE))
      const ended = await sandbox.run(command, {
        workspace,
        skills,
        timeoutMs,
        signal: AbortSignal.any([context.signal, closing]),
        isDiskFull: () => isFull(workspace, limit),
      })
      const warning = (await isFull(workspace)) ? `\n${FULL}` : ''
      return { text: report(ended, timeoutMs) + warning }
    })
  },
})

const FULL = `The workspace holds more than ${MAX_FOLDER_BYTES} bytes: remove files before you write more.`

function checkCommand(command: string): string {
  if (command.includes('\0')) throw new ToolError('The command holds a NUL character.')
  if (!command.isWellFormed()) throw new ToolError('The command holds half of a character.')
  const size = Buffer.byteLength(command)
  if (size <= MAX_COMMAND_BYTES) return command
  throw new ToolError(
    `The command has ${size} bytes, of ${MAX_COMMAND_BYTES} allowed. Write a script with write_file and run that.`,
  )
}

function report({ output, status, complaint, cut }: Ended, timeoutMs: number): string {
  const text = toText(output)
  if (cut === 'output') return `${text}\n${KILLED.output}`
  if (cut) {
    const why = cut === 'time' ? `The command was killed after ${timeoutMs} ms.` : KILLED.disk
    throw new ToolError(`${bothEnds(text) || '(no output)'}\n${why}`)
  }
  if (status === null) return `${text || '(no output)'}\nThe command was killed.`
  if (status !== 0 && output.length === 0 && complaint !== '') {
    throw new ToolError(`The command could not be started: ${complaint.trim()}`)
  }
  return `${text || '(no output)'}${status === 0 ? '' : `\nExit status ${status}.`}`
}

/** A NUL is shown like any other byte that is no text: a database need not take it. */
function toText(output: Buffer): string {
  for (let at = output.indexOf(0); at !== -1; at = output.indexOf(0, at + 1)) output[at] = 0xff
  return output.toString().trim()
}

const KILLED = {
  output: 'The command was killed, because its output passed 10 MiB.',
  disk: `The command was killed, because it filled the workspace over ${MAX_FOLDER_BYTES} bytes.`,
}

function bothEnds(text: string): string {
  if (text.length <= MAX_ERROR_CHARACTERS) return text
  const half = MAX_ERROR_CHARACTERS / 2
  const left = text.length - 2 * half
  const [head, tail] = [text.slice(0, half), text.slice(-half)]
  return `${head}\n… (${left} more characters) …\n${tail}`.toWellFormed()
}
