import './node-version.ts'
import { pino } from 'pino'
import { type Config, readConfig } from './config.ts'
import { greeting } from './greeting.ts'
import { openService } from './open-service.ts'
import { openTracing } from './telemetry/open-tracing.ts'

try {
  await serve(readConfig(process.env))
} catch (error) {
  const why = error instanceof Error ? error.message : String(error)
  process.stderr.write(`loadskill cannot start: ${why}\n`)
  process.exit(1)
}

async function serve(config: Config): Promise<void> {
  const tracing = await openTracing(config)
  const log = pino({ level: config.LOG_LEVEL, ...(tracing && { mixin: tracing.logFields }) })
  const { app, authMode, model } = await openService(config, log, { tracing })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
  const address = await app.listen({ host: config.HOST, port: config.PORT })
  process.stdout.write(greeting(address, authMode, model))
}
