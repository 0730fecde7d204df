import { extname, join } from 'node:path'
import { connect } from './demo/client.ts'
import { print, printTitle } from './demo/page.ts'
import { startService } from './demo/service.ts'
import { askQuestion, refuseBrokenSkill, showReceipt, uploadSkill } from './demo/steps.ts'

const TIME_LIMIT_MS = 60_000

const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => stopped.abort(new Error('it was stopped.')))
}
// The reader may leave, as `head` does: what was started is cleared away all the same.
process.stdout.on('error', (error) => stopped.abort(error))
const late = AbortSignal.timeout(TIME_LIMIT_MS)

try {
  await runDemo(AbortSignal.any([stopped.signal, late]))
} catch (error) {
  const [told, code] = late.aborted
    ? [`it took over ${TIME_LIMIT_MS / 1000} s.`, 1]
    : whatFailed(error)
  process.stderr.write(`\nThe demo ended early: ${told}\n`)
  process.exitCode = code
}

async function runDemo(signal: AbortSignal): Promise<void> {
  const entry = join(import.meta.dirname, `server${extname(import.meta.filename)}`)
  const service = await startService(entry, process.env, signal)
  try {
    printTitle(service)
    const call = connect(service.url, signal)
    await uploadSkill(call)
    await refuseBrokenSkill(call)
    showReceipt(await askQuestion(call))
    print(`\nNow start it for yourself: npm start, then open http://127.0.0.1:3000/docs\n`)
  } finally {
    await service.stop()
  }
}

function whatFailed(error: unknown): [told: string, code: number] {
  const { reason, aborted } = stopped.signal
  const cause = aborted ? reason : error
  return [cause instanceof Error ? cause.message : String(cause), aborted ? 130 : 1]
}
