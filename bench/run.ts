import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** `npm run bench -- NAME [--json] [--quick] [--rounds N]`: each bench is a script of its own. */
const [name = '', ...options] = process.argv.slice(2)
const names = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && entry.name !== 'run.ts')
  .map((entry) => basename(entry.name, '.ts'))
  .sort()

if (names.includes(name)) {
  const script = join(import.meta.dirname, `${name}.ts`)
  const bench = spawn(process.execPath, [script, ...options], { stdio: 'inherit' })
  bench.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  const problem = name === '' ? '' : `No bench is named "${name}". `
  process.stderr.write(
    `${problem}Usage: npm run bench -- NAME [--json] [--quick] [--rounds N], where NAME is one of: ${names.join(', ')}\n`,
  )
  process.exitCode = 2
}
