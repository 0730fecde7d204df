import { writeFileSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { clock } from './clock.ts'

// With a path it notes there what it goes through, and does not end when it is asked to.
const [, , path] = process.argv
if (path) {
  writeFileSync(path, `${process.pid}`)
  process.on('SIGTERM', () => undefined)
  setInterval(() => undefined, 1000)
}
serveStdio(() => clock())
