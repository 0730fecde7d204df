import { registerHooks } from 'node:module'

// Names on stderr what a process loads of OpenTelemetry.
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /\/node_modules\/(@opentelemetry\/[^/]+|@fastify\/otel)\//.exec(url) ?? []
    if (name) process.stderr.write(`loads ${name}\n`)
    return nextLoad(url, context)
  },
})
