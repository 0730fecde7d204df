import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToolError } from '../../../src/agent/tool.ts'
import { httpClock, listen, modernClock } from './http-clock.ts'
import { database, eventually, openTools } from './open-tools.ts'

const http = (url: string, headers: Record<string, string> = {}) => ({ url, headers })

test('tools of a server over HTTP are offered, and answer', async (t) => {
  const clock = await httpClock(t)
  const { put, names, call, until } = await openTools(t)
  await put('clock', http(clock.url))
  assert.deepEqual(await names(), [
    'mcp__clock__environment',
    'mcp__clock__fail',
    'mcp__clock__get_current_time',
    'mcp__clock__grow',
    'mcp__clock__wait',
  ])
  const { text } = await call('mcp__clock__get_current_time', { timezone: 'UTC' })
  assert.equal(text, '12:00 in UTC')
  const { tools, toolsHash, accepted, error } = await until('clock', 'connected')
  assert.equal(tools.length, 5)
  assert.equal(accepted, toolsHash)
  assert.equal(error, null)
})

test('a server of the newer protocol answers too, and tells of other tools', async (t) => {
  const clock = await modernClock(t)
  const { put, call, until } = await openTools(t)
  await put('clock', http(clock.url))
  const { text } = await call('mcp__clock__get_current_time', { timezone: 'CET' })
  assert.equal(text, '12:00 in CET')
  clock.state.alarm = true
  clock.notify.toolsChanged()
  await until('clock', 'changed')
})

test('an error of the tool is told to the model without the secrets in it', async (t) => {
  const clock = await httpClock(t)
  const key = 'SECRET-4711-CANARY'
  process.env.CLOCK_KEY = key
  t.after(() => delete process.env.CLOCK_KEY)
  const { put, call } = await openTools(t)
  await put('clock', http(clock.url, { authorization: 'Bearer {{env.CLOCK_KEY}}' }))
  await assert.rejects(
    () => call('mcp__clock__fail'),
    (error) => {
      assert.ok(error instanceof ToolError)
      assert.equal(error.message, 'the clock has stopped, and [secret] is known')
      return true
    },
  )
  assert.ok(clock.headers.every((sent) => sent === `Bearer ${key}`))
})

test('a variable that is not set is named, and nothing is sent', async (t) => {
  const clock = await httpClock(t)
  const { put, names, until } = await openTools(t, { env: {} })
  await put('clock', http(clock.url, { authorization: 'Bearer {{env.CLOCK_KEY}}' }))
  assert.deepEqual(await names(), [])
  const { error } = await until('clock', 'failed')
  assert.match(String(error), /CLOCK_KEY/)
  assert.equal(clock.headers.length, 0)
})

test('a host that is not allowed is not reached', async (t) => {
  const clock = await httpClock(t)
  const { put, names, until } = await openTools(t, { allowHosts: '' })
  await put('clock', http(clock.url))
  assert.deepEqual(await names(), [])
  const { error } = await until('clock', 'failed')
  assert.match(String(error), /not on the public internet/)
  assert.equal(clock.headers.length, 0)
})

test('a server that was stopped and started again is found again', async (t) => {
  const clock = await httpClock(t)
  const { put, tools, names, call, until } = await openTools(t)
  await put('clock', http(clock.url))
  const before = await tools()
  const tell = before.find(({ name }) => name === 'mcp__clock__get_current_time')
  assert.ok(tell)
  await clock.stop()
  const context = { signal: AbortSignal.timeout(20_000), conversationId: 'conv_1', callId: 'c' }
  await assert.rejects(() => tell.run({ timezone: 'UTC' }, context), ToolError)
  await until('clock', 'failed')
  assert.deepEqual(await names(), [])
  await clock.start()
  await until('clock', 'connected')
  const { text } = await call('mcp__clock__get_current_time', { timezone: 'UTC' })
  assert.equal(text, '12:00 in UTC')
})

test('a server that has forgotten its sessions is greeted anew', async (t) => {
  const clock = await httpClock(t)
  const { put, names, call } = await openTools(t)
  await put('clock', http(clock.url))
  assert.equal((await names()).length, 5)
  await clock.stop()
  await clock.start()
  const { text } = await eventually(() => call('mcp__clock__get_current_time', { timezone: 'UTC' }))
  assert.equal(text, '12:00 in UTC')
})

test('a changed tool list is refused until it is accepted', async (t) => {
  const clock = await httpClock(t)
  const { put, names, call, until, logged } = await openTools(t)
  await put('clock', http(clock.url))
  const { text } = await call('mcp__clock__grow')
  assert.equal(text, 'has an alarm now')
  const { toolsHash, accepted } = await until('clock', 'changed')
  assert.notEqual(toolsHash, accepted)
  assert.deepEqual(await names(), [])
  assert.deepEqual(await names(), [])
  const told = logged.filter(({ message }) => message.startsWith('MCP tools changed'))
  assert.equal(told.length, 1)
  await put('clock', http(clock.url), { accepted: toolsHash })
  assert.ok((await names()).includes('mcp__clock__set_alarm'))
})

test('the hash of the first list outlives the process', async (t) => {
  const clock = await httpClock(t)
  const db = await database(t)
  const first = await openTools(t, { db })
  await first.put('clock', http(clock.url))
  assert.equal((await first.names()).length, 5)
  await first.mcp.close()
  clock.state.alarm = true
  const second = await openTools(t, { db })
  await second.until('clock', 'changed')
  assert.deepEqual(await second.names(), [])
})

test('instances that share a database follow what another one sets up', async (t) => {
  const clock = await httpClock(t)
  const db = await database(t)
  const [one, other] = [await openTools(t, { db }), await openTools(t, { db })]
  await one.put('clock', http(clock.url))
  const [mine, theirs] = await Promise.all([one.names(), other.names()])
  assert.equal(mine.length, 5)
  assert.deepEqual(theirs, mine)
  await one.put('clock', http(clock.url), { approval: true })
  assert.ok((await other.tools()).every(({ needsApproval }) => needsApproval?.({})))
  await one.servers.remove('clock')
  assert.deepEqual(await other.names(), [])
})

test('an abort is sent to the server as a cancellation', async (t) => {
  for (const open of [httpClock, modernClock]) {
    const clock = await open(t)
    const { put, call } = await openTools(t)
    await put('clock', http(clock.url))
    const leaving = new AbortController()
    const called = call('mcp__clock__wait', {}, leaving.signal)
    const failed = assert.rejects(called, /gone/)
    await eventually(() => assert.deepEqual(clock.waits, ['begun']))
    leaving.abort(new Error('gone'))
    await failed
    await eventually(() => assert.deepEqual(clock.waits, ['begun', 'cancelled']))
  }
})

test('a call on its way when the server dies is an error, not a wait', async (t) => {
  const clock = await httpClock(t)
  const { put, call } = await openTools(t)
  await put('clock', http(clock.url))
  const failed = assert.rejects(() => call('mcp__clock__wait'), ToolError)
  await eventually(() => assert.deepEqual(clock.waits, ['begun']))
  await clock.stop()
  await failed
})

test('a server that never answers keeps no step from going on, and is logged once', async (t) => {
  const silent = await listen(t, () => undefined)
  const clock = await httpClock(t)
  const { put, names, status, logged } = await openTools(t)
  await put('clock', http(clock.url))
  await put('silent', http(silent.url))
  const began = performance.now()
  for (let step = 0; step < 20; step++) assert.equal((await names()).length, 5)
  assert.ok(performance.now() - began < 15_000, 'twenty steps wait as long as one')
  assert.equal((await status('silent')).status, 'connecting')
  const told = logged.filter(({ message }) => message.includes('not connected in time'))
  assert.equal(told.length, 1)
})
