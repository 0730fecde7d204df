import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { createTerminal } from '../../src/cli/terminal.ts'
import { buildTestApp } from '../build-app.ts'
import { ROOT } from '../run-service.ts'

export const CLI = join(ROOT, 'src/cli.ts')

interface Run {
  /** Nothing of the test's own environment gets through but the PATH. */
  env?: Record<string, string>
  cwd?: string
  input?: string | Uint8Array
  node?: string
  entry?: string
}

/** Starts the program; killed at the end of the test when it still runs. */
export function spawnCli(t: TestContext, args: readonly string[], run: Run = {}) {
  const { node = process.execPath, entry = CLI, cwd = ROOT, env } = run
  return listen(t, spawn(node, [entry, ...args], { cwd, env: environment(env) }))
}

/** Runs a command to its end: in this process, but where only one of its own has what it needs. */
export async function runCli(t: TestContext, args: readonly string[], run: Run = {}) {
  const { env = {}, cwd, input = '', ...own } = run
  if (Object.keys(own).length > 0) return runApart(t, args, run)
  const before = process.cwd()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const said = Promise.all([buffer(stdout), buffer(stderr)])
  stdin.end(input)
  const terminal = createTerminal({ stdin, stdout, stderr }, env)
  if (cwd !== undefined) process.chdir(cwd)
  const code = await runProgram(['node', 'loadskill', ...args], env, terminal)
  if (cwd !== undefined) process.chdir(before)
  stdout.end()
  stderr.end()
  const [bytes, errors] = await said
  return { code, stdout: bytes.toString(), stderr: errors.toString(), bytes }
}

async function runApart(t: TestContext, args: readonly string[], run: Run) {
  const { child, ended, said, bytes } = spawnCli(t, args, run)
  child.stdin?.end(run.input ?? '')
  const [code] = await ended
  return { code, ...said, bytes: Buffer.concat(bytes) }
}

/** As `runCli`, with what it says as JSON. */
export async function runJson<Answer>(t: TestContext, args: readonly string[], run: Run = {}) {
  const { code, stdout, stderr } = await runCli(t, ['--json', ...args], run)
  return { code, stderr, answer: JSON.parse(stdout) as Answer }
}

export const noTerminal =
  spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
    ? false
    : 'script (util-linux), which makes a terminal, is not here'

/** Starts the program in a terminal of its own; what it says comes on standard output alone. */
export function spawnInTerminal(t: TestContext, args: readonly string[], run: Run = {}) {
  const words = [process.execPath, CLI, ...args].map((word) => `'${word}'`)
  const command = `stty cols 80; exec ${words.join(' ')}`
  const env = { ...environment(run.env), TERM: 'xterm-256color', SHELL: '/bin/sh' }
  const { cwd = ROOT } = run
  return listen(t, spawn('script', ['-qec', command, '/dev/null'], { cwd, env }))
}

/** The program is started so often that to read it again each time would take half of the time. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'loadskill-compile-cache')

const environment = (env: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE,
  ...env,
})

function listen(t: TestContext, child: ChildProcess) {
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const said = { stdout: '', stderr: '' }
  const bytes: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes.push(chunk)
    said.stdout = Buffer.concat(bytes).toString()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
  })
  // A program may end without reading what it is told.
  child.stdin?.on('error', () => {})
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended, said, bytes }
}

/** The service on a port of its own, as the environment of a command that finds it. */
export async function serve(t: TestContext, env: Record<string, string> = {}) {
  const app = await buildTestApp(t, { env })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url, env: { LOADSKILL_URL: url } }
}

/** Files by their paths below a folder. */
export async function writeFiles(
  folder: string,
  files: Record<string, string | Uint8Array>,
): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
}

export const BROKEN = `---
name: release-notes
description: Writes release notes: one line for each change.
---
Group the changes by kind.
`
