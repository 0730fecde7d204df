import type { Command } from 'commander'
import type { Client } from '../client.ts'
import { EXIT, Failure } from '../failure.ts'
import { Refusal } from '../refusal.ts'
import { openSession, type World } from '../session.ts'
import { printTable } from '../table.ts'
import { count } from '../terminal.ts'

const PATH = '/keys'

interface Key {
  id: string
  name: string
  scopes: string[]
  expires_at?: string | null
  /** Shown once, when it is made. */
  key?: string
}

interface CreateOptions {
  scope: string[]
  tag?: string[]
  agent?: string[]
  expires?: string
}

/** The keys of a service. */
export function addKeys(program: Command, world: World): void {
  const keys = program.command('keys').description('list, create or delete API keys (scope admin)')

  keys
    .command('list')
    .description('list the keys, without the keys themselves')
    .action(async (_: object, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const found = await asked(client, () => client.list<Key>(PATH))
      if (json) return terminal.printJson(found)
      if (found.length > 0)
        printTable(terminal, ['ID', 'NAME', 'SCOPES', 'EXPIRES'], found.map(toRow))
      terminal.print(`${count(found.length, 'key')}.`)
    })

  keys
    .command('create')
    .description('create a key, and show it this once')
    .argument('<name>')
    .requiredOption('--scope <scope...>', 'skills:read, skills:write, chat, admin')
    .option('--tag <tag...>', 'skills that it may use, by their tags')
    .option('--agent <agent...>', 'agents that it may use')
    .option('--expires <time>', 'as 2027-01-31T00:00:00Z')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const { scope: scopes, tag: tags, agent: agents, expires: expires_at } = options
      const body = { name, scopes, tags, agents, expires_at }
      const made = await asked(client, () => client.send<Key>('POST', PATH, body))
      if (json) return terminal.printJson(made)
      terminal.print(made.key ?? '')
      terminal.note(`${made.id}: the key is shown this once.`)
    })

  keys
    .command('delete')
    .description('delete a key: what uses it is refused from then on')
    .argument('<id>')
    .action(async (id: string, _: object, command: Command) => {
      const { client, terminal, json } = openSession(world, command)
      const path = `${PATH}/${encodeURIComponent(id)}`
      await asked(client, () => client.call(path, { method: 'DELETE' }))
      if (json) return terminal.printJson({ id, deleted: true })
      terminal.print(`${id} is deleted.`)
    })
}

const toRow = ({ id, name, scopes, expires_at = null }: Key) => [
  id,
  name,
  scopes.join(', '),
  expires_at,
]

/** A service without these routes is told apart from one without this key. */
async function asked<Answer>({ url }: Client, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem?.code !== 'route_not_found') throw error
    const what = `The service at ${url} does not manage keys over HTTP: set ADMIN_KEY where it runs.`
    throw new Failure(EXIT.refused, what, { cause: error })
  }
}
