import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempFolder } from '../../temp-folder.ts'
import { eventually, openTools } from './open-tools.ts'

const PROCESS = join(import.meta.dirname, 'clock-process.ts')
const command = (env: Record<string, string> = {}, args: string[] = []) => ({
  command: process.execPath,
  args: [PROCESS, ...args],
  env,
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a server that is run as a command has its own environment, and none of ours', async (t) => {
  const env = { ...process.env, CLOCK_KEY: 'SECRET-4711', ADMIN_KEY: 'another-secret' }
  const { put, call, until } = await openTools(t, { env })
  await put('clock', command({ CLOCK_KEY: '{{env.CLOCK_KEY}}', ZONE: 'UTC' }))
  await until('clock', 'connected')
  const time = await call('mcp__clock__get_current_time', { timezone: 'UTC' })
  assert.equal(time.text, '12:00 in UTC')
  const { text } = await call('mcp__clock__environment')
  const expected = ['CLOCK_KEY', 'HOME', 'LANG', 'PATH', 'ZONE'].filter(
    (name) => name in env || name === 'ZONE',
  )
  assert.deepEqual(JSON.parse(text), expected)
  await assert.rejects(() => call('mcp__clock__fail'), /and \[secret\] is known/)
})

test('its process is started again when it was killed', async (t) => {
  const path = join(await tempFolder(t), 'pid')
  const { put, until, names } = await openTools(t)
  await put('clock', command({}, [path]))
  await until('clock', 'connected')
  const pid = Number(await readFile(path, 'utf8'))
  process.kill(pid, 'SIGKILL')
  const { error } = await until('clock', 'failed')
  assert.equal(error, 'the process ended with SIGKILL')
  await until('clock', 'connected')
  assert.notEqual(Number(await readFile(path, 'utf8')), pid)
  assert.equal((await names()).length, 5)
})

test('its process ends with its definition, though it does not listen to SIGTERM', async (t) => {
  const path = join(await tempFolder(t), 'pid')
  const { put, servers, until, names } = await openTools(t)
  await put('clock', command({}, [path]))
  await until('clock', 'connected')
  const pid = Number(await readFile(path, 'utf8'))
  await servers.remove('clock')
  assert.deepEqual(await names(), [])
  await eventually(() => assert.equal(isAlive(pid), false))
})

test('no process is left when it is closed', async (t) => {
  const folder = await tempFolder(t)
  const paths = ['a', 'b'].map((name) => join(folder, name))
  const { mcp, put, until } = await openTools(t)
  for (const [at, path] of paths.entries()) await put(`clock-${at}`, command({}, [path]))
  for (const at of paths.keys()) await until(`clock-${at}`, 'connected')
  const pids = await Promise.all(paths.map(async (path) => Number(await readFile(path, 'utf8'))))
  await mcp.close()
  assert.deepEqual(pids.map(isAlive), [false, false])
})

test('a process that ends says why in its last line', async (t) => {
  const script = 'console.error("noise"); console.error("no licence found"); process.exit(3)'
  const { put, until } = await openTools(t)
  await put('clock', { command: process.execPath, args: ['-e', script], env: {} })
  const { error } = await until('clock', 'failed')
  assert.equal(error, 'the process ended with status 3: no licence found')
})

test('a command that is not there is named', async (t) => {
  const { put, until } = await openTools(t)
  await put('clock', { command: 'no-such-command-anywhere', args: [], env: {} })
  const { error } = await until('clock', 'failed')
  assert.match(String(error), /no-such-command-anywhere/)
})

test('nothing is run where commands are off', async (t) => {
  const { put, names, status } = await openTools(t, { commands: false })
  await put('clock', command())
  assert.deepEqual(await names(), [])
  const { status: how, error } = await status('clock')
  assert.equal(how, 'failed')
  assert.match(String(error), /MCP_COMMANDS/)
})
