import { type Command, Option } from 'commander'
import type { Mode } from '../domain/diagnostics.ts'
import { type Client, createClient } from './client.ts'
import { EXIT, Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'

export const DEFAULT_URL = 'http://127.0.0.1:3000'

/** What a command runs in. */
export interface World {
  env: NodeJS.ProcessEnv
  terminal: Terminal
  /** Aborted when the command has ended. */
  over: AbortSignal
  /** Set by a command that ran to its end, and found something wrong. */
  found: boolean
}

export interface Session {
  terminal: Terminal
  /** Whether a script reads the answer. */
  json: boolean
  client: Client
  /** Aborts at Ctrl-C. */
  signal: AbortSignal
}

/** Everything that a command which speaks to the service needs. */
export function openSession(
  { env, terminal, over }: Pick<World, 'env' | 'terminal' | 'over'>,
  command: Command,
): Session {
  const { json = false, url } = command.optsWithGlobals<{ json?: boolean; url: string }>()
  const stopped = new AbortController()
  const stop = () => stopped.abort(new Failure(EXIT.stopped, 'stopped.'))
  process.once('SIGINT', stop)
  over.addEventListener('abort', () => process.off('SIGINT', stop))
  const { signal } = stopped
  return {
    terminal,
    json,
    signal,
    client: createClient({ url: url || DEFAULT_URL, key: env.LOADSKILL_KEY, signal }),
  }
}

export const lenientOption = () =>
  new Option('--lenient', 'repair faults where they can be, with a warning')

export const modeOf = ({ lenient = false }: { lenient?: boolean }): Mode =>
  lenient ? 'lenient' : 'strict'
