import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'

/**
 * CPU of a turn (two model calls, one load): the service over HTTP with everything stored in
 * SQLite, beside loops that store nothing and serve nobody. Each is a process of its own, and they
 * take turns within one run; the model is a process beside them. A ratio is the median of those of
 * the rounds, each to the base of the same round; the base again, to itself, tells the noise.
 */
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
  },
})

const TURNS = options.quick ? 50 : 200
const ROUNDS = options.quick ? 2 : Number(options.rounds)
/** Until here the compiler still works on the AI SDK: its first turns cost three times as much. */
const WARM_UP = options.quick ? 100 : 1500
const PEERS_FOLDER = join(import.meta.dirname, 'peers')
const PEERS = ['bare', 'ai-sdk', 'langgraph', 'deepagents']
const TARGET = { of: 'ai-sdk', most: 0.6 }
/** By how much the base may differ from itself in a run that says anything. */
const NOISE = 0.1

const AGAIN = `${TARGET.of} again`

interface Subject {
  name: string
  /** Runs turns, so many at once, and tells the CPU milliseconds that they took. */
  run(turns: number, atOnce: number): Promise<number>
}

const started: ChildProcess[] = []
const folder = await mkdtemp(join(tmpdir(), 'loadskill-bench-'))
try {
  installPeers()
  const model = await startPeer('model.mjs')
  const url = String(model.said)
  const subjects: Subject[] = [
    ...(await Promise.all(PEERS.map((name) => peer(name, url)))),
    ...(await service(url)),
  ]
  const rows = [...(await measure(subjects, 1)), ...(await measure(subjects, 50))]
  process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows))
  const missed = rows.filter(({ subject, ratio }) => /^ours/.test(subject) && ratio > TARGET.most)
  const noisy = rows.filter(
    ({ subject, ratio }) => subject === AGAIN && !(Math.abs(ratio - 1) <= NOISE),
  )
  for (const { at_once, ratio } of noisy) {
    process.stderr.write(`At ${at_once} at once the base is ${ratio} of itself: run it again.\n`)
  }
  process.exitCode = missed.length > 0 || noisy.length > 0 ? 1 : 0
} finally {
  for (const child of started) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
}

function installPeers(): void {
  // npm writes this file last: without it an installation was broken off.
  if (existsSync(join(PEERS_FOLDER, 'node_modules', '.package-lock.json'))) return
  process.stderr.write('The AI SDK, LangGraph and deepagents are installed in bench/peers …\n')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: PEERS_FOLDER, stdio: 'inherit' })
}

async function startPeer(script: string, ...args: string[]) {
  const child = fork(join(PEERS_FOLDER, script), args)
  started.push(child)
  return { child, said: await saidBy(child, script) }
}

/** What a child says next; rejects when it ends instead. */
async function saidBy(child: ChildProcess, name: string) {
  const stop = new AbortController()
  const { signal } = stop
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${name} ended with ${code} in the middle of the bench`)
  })
  try {
    const [said] = await Promise.race([once(child, 'message', { signal }), ended])
    return said
  } finally {
    stop.abort()
  }
}

async function peer(name: string, url: string): Promise<Subject> {
  const { child } = await startPeer('subject.mjs', name, url)
  return {
    name,
    async run(turns, atOnce) {
      child.send({ turns, atOnce })
      const { cpuMs } = await saidBy(child, name)
      return cpuMs
    },
  }
}

/** The real service, asked from here, as JSON and as events. Its CPU is what its metrics say. */
async function service(modelUrl: string): Promise<Subject[]> {
  const { PATH } = process.env
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH,
      PORT: '0',
      LOG_LEVEL: 'warn',
      SKILLS_DIR: '',
      DATABASE_URL: `sqlite:${join(folder, 'skills.db')}`,
      MODEL: 'anthropic/test',
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: modelUrl,
    },
  })
  started.push(child)
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!/listens on (http:\S+)/.test(said)) {
    if (child.exitCode !== null) throw new Error('the service did not start')
    await sleep(20)
  }
  const [, url = ''] = /listens on (http:\S+)/.exec(said) ?? []
  const pool = new Pool(url, { connections: 64 })
  const { SYSTEM, MESSAGE, BODY, ANSWER } = await import('./peers/scene.mjs')

  const ask = async (path: string, body: string, type = 'application/json') => {
    const method = 'POST' as const
    const answer = await pool.request({ method, path, body, headers: { 'content-type': type } })
    return answer.body.text()
  }
  for (const [, name, description] of SYSTEM.matchAll(/^- ([\w-]+): (.+)$/gm)) {
    const content = `---\nname: ${name}\ndescription: ${description}\n---\n${BODY}\n`
    await ask('/api/v1/skills', content, 'text/markdown')
  }
  async function cpuMs(): Promise<number> {
    const { body } = await pool.request({ method: 'GET', path: '/metrics' })
    const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(await body.text())?.[1]
    return Number(seconds) * 1000
  }
  const subject = (name: string, stream: boolean): Subject => ({
    name,
    async run(turns, atOnce) {
      const before = await cpuMs()
      for (let left = turns; left > 0; left -= atOnce) {
        const asked = Array.from({ length: Math.min(left, atOnce) }, () =>
          ask('/api/v1/chat', JSON.stringify({ message: MESSAGE, stream })),
        )
        for (const text of await Promise.all(asked)) {
          if (!text.includes(ANSWER)) throw new Error(`${name} answered ${text}`)
        }
      }
      return (await cpuMs()) - before
    },
  })
  return [subject('ours, JSON', false), subject('ours, events', true)]
}

async function measure(subjects: readonly Subject[], atOnce: number) {
  const [base] = subjects.filter(({ name }) => name === TARGET.of)
  if (!base) throw new Error(`${TARGET.of} is not measured`)
  const all = [...subjects, { ...base, name: AGAIN }]
  for (const { run } of subjects) await run(WARM_UP, atOnce)

  const rounds: Map<string, number>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const times = new Map<string, number>()
    for (const { name, run } of all) times.set(name, (await run(TURNS, atOnce)) / TURNS)
    rounds.push(times)
  }
  return all.map(({ name }) => {
    const times = rounds.map((round) => round.get(name) ?? Number.NaN)
    const ratios = rounds.map(
      (round, at) => (times[at] ?? Number.NaN) / (round.get(base.name) ?? 0),
    )
    return {
      at_once: atOnce,
      subject: name,
      cpu_ms: Number(median(times).toFixed(2)),
      ratio: Number(median(ratios).toFixed(2)),
    }
  })
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}

function tableOf(
  rows: readonly { at_once: number; subject: string; cpu_ms: number; ratio: number }[],
) {
  const lines = rows.map(
    ({ at_once, subject, cpu_ms, ratio }) =>
      `${String(at_once).padStart(7)}  ${subject.padEnd(13)}  ${cpu_ms.toFixed(2).padStart(6)}  ${ratio.toFixed(2).padStart(5)}\n`,
  )
  return `at once  subject        CPU ms  ratio (to the AI SDK; ours: at most ${TARGET.most})\n${lines.join('')}`
}
