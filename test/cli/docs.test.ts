import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { EXIT_HELP } from '../../src/cli/failure.ts'
import { shellExamples } from '../pages.ts'
import { ROOT } from '../run-service.ts'
import { tempFolder } from '../temp-folder.ts'
import { BROKEN, CLI, runCli, serve, writeFiles } from './run-cli.ts'

const page = await readFile(join(ROOT, 'docs/cli.md'), 'utf8')
const examples = shellExamples(page)

test('every example of the page answers what it shows', async (t) => {
  const cwd = await tempFolder(t)
  const { env } = await serve(t)
  await writeFiles(cwd, {
    'team-skills/greet/SKILL.md':
      '---\nname: greet\ndescription: Says hello. Use when somebody greets.\n---\nSay hello.\n',
    'team-skills/release-notes/SKILL.md': BROKEN,
    'bin/loadskill': `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`,
  })
  await chmod(join(cwd, 'bin/loadskill'), 0o755)
  const PATH = [join(cwd, 'bin'), process.env.PATH].join(delimiter)

  assert.ok(examples.length >= 10)
  for (const { commands, answer: shown } of examples) {
    assert.ok(shown, `an answer is shown to: ${commands}`)
    const answer = await run(`${commands.trimEnd()} 2>&1`, { cwd, env: { ...env, PATH } })
    assert.match(answer, patternOf(shown), commands)
  }
})

test('the page has the commands and the exit codes of the help', async (t) => {
  const { stdout } = await runCli(t, ['--help'])

  const [, commands = ''] = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout) ?? []
  const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name)
  assert.ok(names.length > 10)
  for (const name of names.filter((name) => name !== 'help')) {
    assert.match(page, new RegExp(`^\\|[^|]*\`${name}[ \`]`, 'm'))
  }
  for (const [, code, meaning] of EXIT_HELP.matchAll(/^ {2}(\d+) +(.+)$/gm)) {
    assert.ok(page.includes(`| ${code} | ${meaning} |`), code)
  }
})

/** What a shell says; its exit code is not looked at, for some examples show what is wrong. */
const run = (commands: string, options: { cwd: string; env: Record<string, string> }) =>
  new Promise<string>((resolve) => {
    execFile('sh', ['-c', commands], options, (_, stdout) => resolve(stdout))
  })

/** `…` stands for anything, and blanks for any blanks. */
function patternOf(shown: string): RegExp {
  const parts = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
  return new RegExp(`^\\s*${parts.join('[\\s\\S]*?')}\\s*$`)
}
