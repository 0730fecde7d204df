import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

export const ROOT = join(import.meta.dirname, '..')

const LIMIT_MS = 30_000

interface Started {
  /** As the environment; nothing of the test's own gets through but the PATH. */
  env?: Record<string, string>
  cwd?: string
  node?: string
  entry?: string
}

const settings = (env: Record<string, string>) => ({
  PATH: process.env.PATH,
  PORT: '0',
  MODEL: 'offline',
  SKILLS_DIR: '',
  DATABASE_URL: 'sqlite::memory:',
  ...env,
})

/** Starts the service as a process of its own. Killed at the end of the test when it still runs. */
export function spawnService(t: TestContext, { env = {}, cwd = ROOT, ...program }: Started = {}) {
  const { node = process.execPath, entry = join(ROOT, 'src/server.ts') } = program
  const child = spawn(node, [entry], { cwd, env: settings(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
    })
  }
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended, said }
}

/** Starts the service, and resolves once it listens. */
export async function startService(t: TestContext, started?: Started) {
  const { child, ended, said } = spawnService(t, started)
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`the service ended: ${said.stderr}`)
    return /listens on (http:\S+)/.exec(said.stdout)?.[1]
  })
  return {
    url,
    said,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

/** Asks again and again until there is something. Throws after a while. */
export async function until<T>(ask: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + LIMIT_MS
  for (;;) {
    const found = await ask()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`Not within ${LIMIT_MS} ms: ${ask}`)
    await sleep(20)
  }
}

export const json = (value: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

export const markdown = (body: string) => ({
  method: 'POST',
  headers: { 'content-type': 'text/markdown' },
  body,
})
