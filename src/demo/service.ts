import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const READY_WITHIN_MS = 30_000
const POLL_MS = 50
const STOP_WITHIN_MS = 5000

export interface Service {
  url: string
  model: string
  /** Resolves once the process has ended and its folder is gone. */
  stop(): Promise<void>
}

/** Starts the service as a process of its own, on a free port, over a database that goes with it. */
export async function startService(
  entry: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'loadskill-demo-'))
  const child = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...env,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: `sqlite:${join(folder, 'demo.db')}`,
      SKILLS_DIR: join(dirname(entry), '..', 'skills'),
      AUTH: 'open',
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE_MS: '1000',
    },
  })
  const stop = async () => {
    await end(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const url = await readAddress(child, signal)
    return { url, model: await waitUntilReady(url, signal), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function readAddress(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  const hear = (chunk: Buffer) => {
    said += chunk
    const url = /listens on (\S+)/.exec(said)?.[1]
    if (url) resolve(url)
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  child.once('error', reject)
  child.once('close', () => reject(new Error(said.trim() || 'the service ended at once.')))
  signal.addEventListener('abort', () => reject(signal.reason))
  signal.throwIfAborted()
  return promise
}

/** Resolves to the name of the model that answers. */
async function waitUntilReady(url: string, signal: AbortSignal): Promise<string> {
  const deadline = Date.now() + READY_WITHIN_MS
  for (;;) {
    const response = await fetch(`${url}/ready`, { signal })
    const { ready, parts } = (await response.json()) as {
      ready: boolean
      parts: { model: { detail: string } }
    }
    if (ready) return parts.model.detail
    if (Date.now() > deadline) throw new Error(`the service is not ready: ${JSON.stringify(parts)}`)
    await sleep(POLL_MS, undefined, { signal })
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  await ended
  clearTimeout(timer)
}
