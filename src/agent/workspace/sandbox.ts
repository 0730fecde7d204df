import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, type Owner } from './folders.ts'
import { GUARD_SCRIPT } from './guard-script.ts'
import { type Ended, runProgram } from './run-program.ts'
import { type Mounts, readArguments } from './sandbox-arguments.ts'

const PROBE_MS = 10_000
/** A user that owns nothing, by agreement. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }
/** No conversation has it. */
const PROBE_FOLDER = '.probe'

interface SandboxOptions {
  /** The folder of all workspaces. */
  root: string
  hidden: readonly string[]
}

interface CommandOptions extends Mounts {
  timeoutMs: number
  signal: AbortSignal
  isDiskFull(): Promise<boolean>
}

export interface Sandbox {
  /** Who the commands run as, when the service runs as root. */
  owner: Owner | undefined
  run(command: string, options: CommandOptions): Promise<Ended>
}

/** A sandbox, or in one line why there is none: found out by running `true` in it. */
export async function openSandbox(
  options: SandboxOptions,
): Promise<{ sandbox: Sandbox; problem?: undefined } | { sandbox?: undefined; problem: string }> {
  if (process.platform !== 'linux') return { problem: 'commands are run on Linux alone' }
  try {
    const sandbox = await buildSandbox(options)
    return await probe(sandbox, options.root)
  } catch (error) {
    const { code } = Object(error)
    if (code === 'ENOENT')
      return { problem: 'bubblewrap is not installed: there is no bwrap in /usr/bin or /bin' }
    return { problem: firstLine(error instanceof Error ? error.message : String(error)) }
  }
}

async function buildSandbox({ root, hidden }: SandboxOptions): Promise<Sandbox> {
  const owner = process.getuid?.() === 0 ? NOBODY : undefined
  const folders = [root, process.cwd(), ...hidden]
  const real = await Promise.all(folders.map((path) => realpath(path).catch(() => path)))
  const toArguments = await readArguments({ etc: join(root, '.etc'), hidden: real, owner })

  return {
    owner,
    run(command, { timeoutMs, signal, isDiskFull, ...mounts }) {
      const seconds = String(Math.ceil(timeoutMs / 1000) + 1)
      const guarded = [
        'bash',
        '--noprofile',
        '--norc',
        '-c',
        GUARD_SCRIPT,
        'bash',
        command,
        seconds,
      ]
      const parameters = [...toArguments(mounts), ...guarded]
      return runProgram('bwrap', parameters, { timeoutMs, signal, isDiskFull })
    },
  }
}

async function probe(sandbox: Sandbox, root: string) {
  const workspace = join(root, PROBE_FOLDER)
  await makeFolder(workspace, sandbox.owner)
  const { status, cut, complaint } = await sandbox.run('true', {
    workspace,
    skills: new Map(),
    timeoutMs: PROBE_MS,
    signal: new AbortController().signal,
    isDiskFull: async () => false,
  })
  if (status === 0) return { sandbox }
  if (cut) return { problem: `a sandbox has not started within ${PROBE_MS / 1000} s` }
  return { problem: firstLine(complaint) || `a sandbox ended with exit status ${status}` }
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 300) ?? ''
