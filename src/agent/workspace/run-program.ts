import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

const MAX_OUTPUT_BYTES = 10 * 1024 * 1024
const MAX_COMPLAINT = 1000
const CHECK_MS = 1000

/** What ended a program before it had come to its end. */
type Cut = 'time' | 'output' | 'disk'

export interface Ended {
  output: Buffer
  /** What was said in place of the program, by what was to start it. */
  complaint: string
  /** Null when it was killed. */
  status: number | null
  cut: Cut | undefined
}

interface Limits {
  timeoutMs: number
  signal: AbortSignal
  /** Asked once a second. */
  isDiskFull(): Promise<boolean>
}

/**
 * Runs bwrap with an environment of nothing, for its own is there to read at /proc/1/environ.
 * Killing it ends every process in the sandbox.
 */
export async function runProgram(
  program: string,
  parameters: readonly string[],
  { timeoutMs, signal, isDiskFull }: Limits,
): Promise<Ended> {
  signal.throwIfAborted()
  const over = new AbortController()
  const child = spawn(program, parameters, {
    env: {},
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const chunks: Buffer[] = []
  let [size, complaint] = [0, '']
  let cut: Cut | undefined

  // The group, too: until bwrap has arranged for it, its children do not end with it.
  const kill = () => {
    if (child.pid === undefined || over.signal.aborted) return
    for (const id of [-child.pid, child.pid]) {
      try {
        process.kill(id, 'SIGKILL')
      } catch {}
    }
  }
  const end = (why: Cut) => {
    cut ??= why
    kill()
  }
  // Without file descriptors there are no streams, and the error comes later.
  child.stdout?.on('data', (chunk: Buffer) => {
    const room = MAX_OUTPUT_BYTES - size
    size += Math.min(room, chunk.length)
    if (room > 0) chunks.push(chunk.subarray(0, room))
    if (chunk.length > room) end('output')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_COMPLAINT) complaint += chunk.toString().slice(0, MAX_COMPLAINT)
  })
  const timer = setTimeout(end, timeoutMs, 'time')
  signal.addEventListener('abort', kill, { once: true })
  void watchDisk(isDiskFull, () => end('disk'), over.signal)

  try {
    const status = await closed
    signal.throwIfAborted()
    return { output: Buffer.concat(chunks), complaint, status, cut }
  } finally {
    over.abort()
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
  }
}

async function watchDisk(isFull: () => Promise<boolean>, stop: () => void, over: AbortSignal) {
  while (!over.aborted) {
    await pause(CHECK_MS, undefined, { signal: over, ref: false }).catch(() => undefined)
    if (!over.aborted && (await isFull())) return stop()
  }
}
