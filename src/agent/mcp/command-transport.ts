import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ReadBuffer, Transport } from '@modelcontextprotocol/client'
import type { CommandEndpoint } from './mcp-server.ts'

const INHERITED = ['PATH', 'HOME', 'LANG']
/** How long a process may take to end: by itself, and then after SIGTERM. */
const TO_LEAVE_MS = 500
const TO_TERMINATE_MS = 2000
/** For what a process has written before it ended. */
const TO_READ_MS = 500
const MAX_LAST_WORDS = 2000

interface Options {
  /** Of the service: of it the process is given no more than it takes to run anything. */
  env: NodeJS.ProcessEnv
  buffer: ReadBuffer
}

/**
 * Speaks to a process over its input and output, a message a line. It is the head of a group of its
 * own, and the whole group is gone when the transport is closed or the process has ended.
 */
export function commandTransport(endpoint: CommandEndpoint, { env, buffer }: Options): Transport {
  let child: ChildProcess | undefined
  let lastWords = ''
  let closing: Promise<void> | undefined

  const transport: Transport = {
    async start() {
      if (closing) throw new Error('the transport is closed')
      const { command, args } = endpoint
      const inherited = INHERITED.flatMap((name) => (env[name] ? [[name, env[name]]] : []))
      const started = spawn(command, args, {
        env: { ...Object.fromEntries(inherited), ...endpoint.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
      })
      child = started
      started.on('error', ignore)
      started.stdin.on('error', ignore)
      started.stdout.on('error', ignore)
      started.stderr.on('error', ignore)
      started.stdout.on('data', read)
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        lastWords = (lastWords + text).slice(-MAX_LAST_WORDS)
      })
      started.on('exit', () => {
        signalGroup(started, 'SIGKILL')
        // Whoever left the group may hold the output open for ever.
        setTimeout(() => hangUp(started), TO_READ_MS).unref()
      })
      started.on('close', (code, signal) => {
        if (started.pid === undefined) return
        const line = lastWords.trim().split('\n').at(-1)
        const why = `the process ended with ${signal ?? `status ${code}`}${line ? `: ${line}` : ''}`
        transport.onerror?.(new Error(why))
        transport.onclose?.()
      })
      await once(started, 'spawn')
    },

    async send(message) {
      if (!child?.stdin?.writable) throw new Error('the process has ended')
      if (!child.stdin.write(`${JSON.stringify(message)}\n`)) await once(child.stdin, 'drain')
    },

    close() {
      closing ??= end()
      return closing
    },
  }
  return transport

  function read(chunk: Buffer) {
    try {
      buffer.append(chunk)
    } catch (error) {
      transport.onerror?.(toError(error))
      void transport.close()
      return
    }
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        transport.onmessage?.(message)
      } catch {
        // A line that is no message, as some print to their output.
      }
    }
  }

  async function end(): Promise<void> {
    if (!child?.pid || hasEnded(child)) return
    child.stdin?.end()
    if (await endsWithin(child, TO_LEAVE_MS)) return
    signalGroup(child, 'SIGTERM')
    if (await endsWithin(child, TO_TERMINATE_MS)) return
    signalGroup(child, 'SIGKILL')
    await endsWithin(child, TO_TERMINATE_MS)
  }
}

const ignore = () => undefined

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null

async function endsWithin(child: ChildProcess, milliseconds: number): Promise<boolean> {
  if (hasEnded(child)) return true
  try {
    await once(child, 'exit', { signal: AbortSignal.timeout(milliseconds) })
  } catch {
    return hasEnded(child)
  }
  return true
}

function hangUp({ stdin, stdout, stderr }: ChildProcess): void {
  stdin?.destroy()
  stdout?.destroy()
  stderr?.destroy()
}

function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody of it is left.
  }
}

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))
