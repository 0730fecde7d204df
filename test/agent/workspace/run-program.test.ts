import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runProgram } from '../../../src/agent/workspace/run-program.ts'

const limits = {
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  isDiskFull: async () => false,
}

test('a program has an environment of nothing', async () => {
  const { output, status } = await runProgram('env', [], limits)
  assert.deepEqual([output.toString(), status], ['', 0])
})

test('a program that is not there is an error', async () => {
  await assert.rejects(runProgram('no-such-program', [], limits), { code: 'ENOENT' })
})

test('a program that is not to begin any more does not', async () => {
  const signal = AbortSignal.abort(new Error('gone'))
  await assert.rejects(runProgram('env', [], { ...limits, signal }), /gone/)
})

test('a program is killed when the disk is full', async () => {
  const isDiskFull = async () => true
  const { cut, status } = await runProgram('sleep', ['1000'], { ...limits, isDiskFull })
  assert.deepEqual([cut, status], ['disk', null])
})
