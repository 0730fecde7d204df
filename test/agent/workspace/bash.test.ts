import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFile } from '../../store/publication.ts'
import { until } from '../talk.ts'
import { CONVERSATION, countProcesses, inSandbox, openWithSandbox } from './open-test-workspace.ts'

/** A sleep that no other process sleeps. */
const longSleep = () => `sleep ${randomInt(1e6, 1e9)}`

inSandbox('bash', () => {
  const outputs: [command: string, text: string][] = [
    ['echo one; echo two >&2; echo three', 'one\ntwo\nthree'],
    ['printf "\\n  a  \\n\\n"', 'a'],
    ['true', '(no output)'],
    ['exit 7', '(no output)\nExit status 7.'],
    ['echo bad >&2; false', 'bad\nExit status 1.'],
    ['kill -TERM $$', '(no output)\nExit status 143.'],
    ['echo to >/dev/stderr; echo both | tee /dev/stderr', 'to\nboth\nboth'],
    ['printf "a\\0b\\377c"', 'a\ufffdb\ufffdc'],
    ['printf "\\033]0;x\\007"', '\u001b]0;x\u0007'],
    ['read x; echo "<$x>"', '<>'],
    ['-x', 'bash: line 1: -x: command not found\nExit status 127.'],
    ['if', 'bash: -c: line 2: syntax error: unexpected end of file\nExit status 2.'],
    ['pwd; cd /; echo ~; whoami', '/workspace\n/tmp\nagent'],
    ['awk "BEGIN { print 1 + 1 }"', '2'],
    ["cat <<'END'\nit's \"so\"\nEND", 'it\'s "so"'],
  ]
  test('answers with the output of both streams in their order, and the exit status', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    for (const [command, text] of outputs) assert.equal(await opened.bash(command), text, command)
  })

  test('keeps the files of a conversation, and shows it no others', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const { bash, call } = opened
    await bash('mkdir a; echo kept > a/b; echo gone > /tmp/c')
    assert.equal(await bash('cat a/b; ls /tmp'), 'kept')
    const other = { conversationId: 'conv_00000002' }
    assert.equal(await bash('ls -A; ls /', other), await bash('ls /', other))
    await call('write_file', { path: 'x.sh', content: 'echo written' })
    assert.equal(await bash('bash x.sh && echo >> x.sh && wc -l < x.sh'), 'written\n1')
    assert.equal(await call('read_file', { path: 'a/b' }), 'kept\n')
  })

  test('runs after the files that the same answer writes', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const { bash, call } = opened
    const [, text, found] = await Promise.all([
      call('write_file', { path: 'x', content: 'there' }),
      bash('cat x; echo more > y'),
      call('glob', { pattern: '*' }),
    ])
    assert.deepEqual([text, found], ['there', 'x\ny'])
  })

  test('gives the files of the loaded skills, which cannot be changed', async (t) => {
    const files = [
      newFile('scripts/deep/run.sh', 'echo "ran $1"\n'),
      newFile('tool', '#!/bin/sh\necho tool\n'),
      newFile('notes.md', 'Notes.'),
    ]
    const opened = await openWithSandbox(t, { skills: { pdf: files, empty: [] } })
    if (!opened) return
    const { bash, directory } = opened
    const run = 'bash /skills/pdf/scripts/deep/run.sh 1; /skills/pdf/scripts/deep/run.sh 2'
    assert.equal(await bash(`${run}; /skills/pdf/tool`), 'ran 1\nran 2\ntool')
    assert.equal(
      await bash('ls /skills /skills/empty; test -x /skills/pdf/notes.md || echo no'),
      [...['/skills:', 'empty', 'pdf', '', '/skills/empty:', 'SKILL.md', 'no']].join('\n'),
    )
    const writes =
      'for it in /skills/pdf/tool /skills/pdf/new /skills/new; do echo > $it || echo no; done'
    assert.equal((await bash(`{ ${writes}; } 2>/dev/null`)).replaceAll('\n', ' '), 'no no no')
    assert.equal((await readdir(join(directory, '.skills'))).length, 2)
  })

  test('shows the version that is loaded, and of a removed skill nothing', async (t) => {
    const opened = await openWithSandbox(t, { skills: { pdf: [newFile('a', 'A')] } })
    if (!opened) return
    await opened.skills.remove('pdf')
    assert.equal(await opened.bash('ls /skills'), '(no output)')
  })

  test('kills all that a command started when its time is over', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const sleep = longSleep()
    const input = { command: `echo begun; setsid ${sleep} & ${sleep}`, timeout_ms: 3000 }
    assert.equal(await opened.fault('bash', input), 'begun\nThe command was killed after 3000 ms.')
    await until(async () => (await countProcesses(sleep)) === 0)
  })

  test('leaves nothing running when a command has ended', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    for (const left of ['SLEEP &', 'nohup SLEEP & disown', 'setsid SLEEP >/dev/null 2>&1 &']) {
      const sleep = longSleep()
      assert.equal(await opened.bash(`echo here; ${left.replace('SLEEP', sleep)}`), 'here', left)
      await until(async () => (await countProcesses(sleep)) === 0)
    }
  })

  test('ends with the turn, and with the service', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const { bash, workspace } = opened
    const [first, second] = [longSleep(), longSleep()]
    const turn = new AbortController()
    const ended = assert.rejects(bash(`${first} & ${first}`, { signal: turn.signal }), /gone/)
    const waiting = assert.rejects(bash('echo never', { signal: turn.signal }), /gone/)
    const closed = assert.rejects(bash(second, { conversationId: 'conv_00000002' }), /shutting/)
    await until(async () => (await countProcesses(first)) > 0 && (await countProcesses(second)) > 0)
    turn.abort(new Error('gone'))
    await Promise.all([ended, waiting])
    await until(async () => (await countProcesses(first)) === 0)
    await workspace.close()
    await closed
    await until(async () => (await countProcesses(second)) === 0)
  })

  test('tells of a command that cannot be run', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const { fault } = opened
    assert.match(await fault('bash', { command: 'a\0b' }), /NUL/)
    assert.match(await fault('bash', { command: `echo ${'x'.repeat(130_000)}` }), /write_file/)
    assert.match(await fault('bash', { command: 'echo \ud800' }), /half of a character/)
  })

  test('is refused, or has to be approved, by what the command does', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const step = { conversationId: CONVERSATION, loads: new Map() }
    const [tool] = await opened.workspace.tools.tools(step)
    assert.equal(tool?.name, 'bash')
    assert.match(tool?.refusal?.({ command: 'sudo ls' }) ?? '', /refused/)
    assert.equal(tool?.refusal?.({ command: 'ls' }), undefined)
    assert.equal(tool?.needsApproval?.({ command: 'rm x' }), true)
    assert.equal(tool?.needsApproval?.({ command: 'echo rm x' }), false)
  })

  test('a conversation that is deleted takes its folder along', async (t) => {
    const opened = await openWithSandbox(t)
    if (!opened) return
    const { bash, folder, workspace } = opened
    await bash('mkdir -p a/b; touch a/b/c; chmod 000 a/b a; ln -s / link')
    await workspace.removeFolder(CONVERSATION)
    await assert.rejects(stat(folder), { code: 'ENOENT' })
    await workspace.removeFolder(CONVERSATION)
    for (const id of ['', '.', '..', '.skills', '../x', 'conv_1', 'turn_00000001']) {
      await assert.rejects(workspace.removeFolder(id), /is not the id/, id)
    }
  })

  test('writes no more once the workspace is full, but can empty it', async (t) => {
    const opened = await openWithSandbox(t, { bashTimeoutMs: 60_000 })
    if (!opened) return
    const { bash, fault, call } = opened
    const filled = await bash('fallocate -l 600M a && fallocate -l 600M b; echo $?')
    assert.match(filled, /^0\nThe workspace holds more than 1073741824 bytes: remove files/)
    assert.match(await fault('write_file', { path: 'c', content: 'x' }), /holds more than/)
    const more = { command: 'fallocate -l 100M d; sleep 30' }
    assert.match(await fault('bash', more), /killed, because it filled the workspace/)
    assert.equal(await bash('rm a b d'), '(no output)')
    assert.match(await call('write_file', { path: 'c', content: 'x' }), /^Wrote 1 bytes/)
  })

  test('says why it is not offered, while files can be worked on', async (t) => {
    const opened = await openWithSandbox(t, { hidden: ['/usr/bin'] })
    if (!opened) return
    assert.match(
      opened.workspace.problem ?? '',
      /^bwrap: execvp [a-z]+: No such file or directory$/,
    )
    await assert.rejects(opened.bash('true'), /bash is not offered/)
    assert.equal(await opened.call('write_file', { path: 'a', content: '' }), 'Wrote 0 bytes to a.')
  })
})
