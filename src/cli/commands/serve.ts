import type { Command } from 'commander'
import type { World } from '../session.ts'

/** The service itself, in this process; its settings come from the environment. */
export function addServe(program: Command, { env }: World): void {
  program
    .command('serve')
    .description('start the service; its settings are environment variables (docs/settings.md)')
    .option('--port <port>', 'as PORT: 0 takes a free one')
    .option('--host <host>', 'as HOST')
    .option('--skills <dir>', 'as SKILLS_DIR: a folder of skills to read and watch')
    .action(async ({ port, host, skills }: { port?: string; host?: string; skills?: string }) => {
      const given = { PORT: port, HOST: host, SKILLS_DIR: skills }
      for (const [name, value] of Object.entries(given)) if (value !== undefined) env[name] = value
      await import('../../server.ts')
    })
}
