import type { Command } from 'commander'
import type { Client } from '../client.ts'
import { openSession, type World } from '../session.ts'
import { toldError } from '../terminal.ts'
import { readVersion } from '../version.ts'

interface Check {
  name: string
  ok: boolean
  detail: string
}

interface Readiness {
  ready: boolean
  parts: Record<string, { ready: boolean; detail?: string; skipped?: { path: string }[] }>
}

/** Looks at everything that has to be right, and says what is not. */
export function addDoctor(program: Command, world: World): void {
  program
    .command('doctor')
    .description('check this program, the service, its parts and the key')
    .action(async (_: object, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const checks = [...versions(), ...(await checkService(client))]
      const ok = checks.every((check) => check.ok)
      world.found = !ok
      if (json) return terminal.printJson({ ok, checks })
      for (const check of checks) {
        const mark = check.ok ? terminal.paint('green', '✓') : terminal.paint('red', '✗')
        terminal.print(`${mark} ${check.name.padEnd(18)} ${check.detail}`)
      }
    })
}

const versions = (): Check[] => [
  { name: 'loadskill', ok: true, detail: readVersion() },
  // An older one has ended before this.
  {
    name: 'node',
    ok: true,
    detail: `${process.versions.node}, ${process.platform}-${process.arch}`,
  },
]

async function checkService(client: Client): Promise<Check[]> {
  const there = await check('service', async () => {
    const health = await client.ask('/health')
    const { status } = (await health.json().catch(() => ({}))) as { status?: string }
    if (status === 'ok') return client.url
    throw new Error(`What answers at ${client.url} is not loadskill (${health.status}).`)
  })
  if (!there.ok) return [there]
  return [there, ...(await checkParts(client)), await checkKey(client)]
}

async function checkParts(client: Client): Promise<Check[]> {
  const response = await client.ask('/ready')
  const { parts } = (await response.json()) as Readiness
  return Object.entries(parts).map(([name, { ready, detail = 'ready', skipped = [] }]) => {
    const left = skipped.map(({ path }) => path).join(', ')
    const what = left === '' ? detail : `${detail}; left out: ${left}`
    return { name: name.replaceAll('_', ' '), ok: ready && left === '', detail: what }
  })
}

const checkKey = (client: Client): Promise<Check> =>
  check('key', async () => {
    await client.read('/skills?limit=1')
    return client.hasKey ? 'LOADSKILL_KEY may read skills' : 'none is asked for'
  })

async function check(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await look() }
  } catch (error) {
    return { name, ok: false, detail: toldError(error).replaceAll('\n', ' ') }
  }
}
