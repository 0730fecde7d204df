import { Command, CommanderError, Option } from 'commander'
import { EXIT, EXIT_HELP, type ExitCode, Failure } from './failure.ts'
import { DEFAULT_URL, type World } from './session.ts'
import { type Terminal, toldError } from './terminal.ts'
import { readVersion } from './version.ts'

const ENVIRONMENT_HELP = `Environment:
  LOADSKILL_URL  where the service is, ${DEFAULT_URL} by default
  LOADSKILL_KEY  an API key, where the service asks for one
  NO_COLOR       no colours
  serve takes every setting of docs/settings.md; validate and push take MAX_…`

/** Runs one command. Resolves to what the process ends with; nothing is thrown. */
export async function runProgram(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<ExitCode> {
  const ending = new AbortController()
  const world: World = { env, terminal, over: ending.signal, found: false }
  try {
    const program = await createProgram(world, argv[2])
    await program.parseAsync(argv)
    return world.found ? EXIT.found : EXIT.done
  } catch (error) {
    // Commander has said it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    terminal.note(`loadskill: ${toldError(error)}`)
    return error instanceof Failure ? error.exitCode : EXIT.usage
  } finally {
    ending.abort()
  }
}

type AddCommand = (program: Command, world: World) => void

/** In the order of the help. */
const COMMANDS: Record<string, () => Promise<AddCommand>> = {
  serve: async () => (await import('./commands/serve.ts')).addServe,
  push: async () => (await import('./commands/push.ts')).addPush,
  pull: async () => (await import('./commands/pull.ts')).addPull,
  list: async () => (await import('./commands/list.ts')).addList,
  show: async () => (await import('./commands/show.ts')).addShow,
  search: async () => (await import('./commands/search.ts')).addSearch,
  validate: async () => (await import('./commands/validate.ts')).addValidate,
  diff: async () => (await import('./commands/diff.ts')).addDiff,
  rollback: async () => (await import('./commands/rollback.ts')).addRollback,
  chat: async () => (await import('./commands/chat.ts')).addChat,
  import: async () => (await import('./commands/import.ts')).addImport,
  export: async () => (await import('./commands/export.ts')).addExport,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
}

/** With the one command that `first` names, which is ready sooner, or else with all. */
async function createProgram(world: World, first = ''): Promise<Command> {
  const program = new Command('loadskill')
    .description('Versioned skills for AI agents: store them, read them, and talk to the agent.')
    .version(readVersion())
    .addOption(
      new Option('--url <url>', 'where the service is').default(
        world.env.LOADSKILL_URL || DEFAULT_URL,
        `"${DEFAULT_URL}", env: LOADSKILL_URL`,
      ),
    )
    .option('--json', 'answer with JSON, for scripts')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help tells more)')
    .addHelpText('after', `\n${EXIT_HELP}\n\n${ENVIRONMENT_HELP}`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.terminal.output.write(text),
      writeErr: (text) => world.terminal.errors.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  const load = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  for (const add of load ? [load] : Object.values(COMMANDS)) (await add())(program, world)
  return program
}
