import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { get } from '../build-app.ts'
import { send } from '../requests.ts'
import { atOnce, call, load, say } from '../scripted-model.ts'
import { waysOf } from '../upload.ts'
import { bash, coder, coderWithBash, outputsOf, SIX, write } from './coder.ts'
import { toolResults } from './ticket-shop.ts'

/** The first conversation of a new database. */
const FIRST = 'conv_00000001'
const AUTH = 'def check(user, given):\n    return user.password == given or given == ""\n'
const FIXED = 'def check(user, given):\n    return compare_digest(user.password, given)\n'

suite('a coding agent', { concurrency: 2 }, () => {
  test('reviews a file with code-review, with six tools and the one that reads skills’ files', async (t) => {
    const edit = {
      path: 'src/auth.py',
      old_text: 'user.password == given or given == ""',
      new_text: 'compare_digest(user.password, given)',
    }
    const opened = await coderWithBash(t, [
      write('src/auth.py', AUTH),
      say('Written.'),
      atOnce(load('code-review'), call('glob', { pattern: '**/*.py' })),
      atOnce(call('read_file', { path: 'src/auth.py' }), bash('grep -n "given ==" src/auth.py')),
      call('edit_file', edit),
      say('Verdict: request changes. [blocker] src/auth.py:2: an empty password gets in.'),
    ])
    if (!opened) return
    const { app, ask, sent, folder } = opened
    const { conversation_id } = await ask({ message: 'Write auth.py' })
    const turn = await ask({ conversation_id, message: 'Review auth.py, and mend it' })

    assert.deepEqual([turn.status, turn.steps], ['completed', 4])
    assert.match(turn.output, /blocker/)
    const [{ name, step, repeat }] = turn.receipt.loaded
    assert.deepEqual([name, step, repeat], ['code-review', 1, false])
    const [body, found, read, grep, edited] = outputsOf(turn)
    assert.match(body ?? '', /^<skill name="code-review"[\s\S]*# Code review/)
    assert.equal(found, 'src/auth.py')
    assert.equal(read, AUTH)
    assert.match(grep ?? '', /^2: {4}return/)
    assert.ok(edited)
    assert.deepEqual(
      toolResults(turn.messages).map(({ is_error }) => is_error),
      [false, false, false, false, false],
    )
    assert.equal(await readFile(join(folder(conversation_id), 'src/auth.py'), 'utf8'), FIXED)

    for (const { tools } of sent()) assert.deepEqual(tools, [...SIX, 'read_skill_file'])
    const path = `/conversations/${conversation_id}/turns/${turn.id}/prompt`
    const { tools } = (await get(app, path)).json()
    assert.deepEqual(
      tools.map((tool: { name: string }) => tool.name),
      [...SIX, 'read_skill_file'],
    )
  })

  test('reviews a file without a shell, as where there is no sandbox', async (t) => {
    const script = [
      write('auth.py', AUTH),
      atOnce(load('code-review'), call('read_file', { path: 'auth.py' })),
      say('Verdict: request changes.'),
    ]
    const { ask, folder } = await coder(t, script)
    const turn = await ask({ message: 'Write and review auth.py' })
    assert.equal(turn.status, 'completed')
    assert.equal(outputsOf(turn).at(-1), AUTH)
    assert.deepEqual(await readdir(folder(turn.conversation_id)), ['auth.py'])
  })

  test('runs the scripts of a skill once it is loaded, in the version that was loaded', async (t) => {
    const run = bash('/skills/count/scripts/count.sh notes.txt')
    const opened = await coderWithBash(
      t,
      [
        write('notes.txt', 'one\ntwo\n'),
        run,
        load('count'),
        atOnce(run, bash('echo x >> /skills/count/scripts/count.sh'), bash('ls /skills')),
        say('Two lines.'),
        run,
        say('Still two.'),
      ],
      '',
    )
    if (!opened) return
    const { app, ask, upload } = opened
    const skill = (script: string) => ({
      'SKILL.md':
        '---\nname: count\ndescription: Counts lines. Use when asked how long a text is.\n---\nRun scripts/count.sh.\n',
      'scripts/count.sh': `#!/bin/sh\n. "$(dirname "$0")/${script}"\n`,
      'scripts/lines.sh': 'echo "$(grep -c "" "$1") lines"\n',
      'scripts/none.sh': 'echo none\n',
    })
    await upload(skill('lines.sh'))
    const turn = await ask({ message: 'How long is it?' })
    const [, before, body, lines, refused, listed] = outputsOf(turn)
    assert.match(before ?? '', /Exit status 127/)
    assert.match(body ?? '', /scripts\/count\.sh/)
    assert.equal(lines, '2 lines')
    assert.match(refused ?? '', /Read-only file system|Permission denied/)
    assert.equal(listed, 'count')

    const { zip } = waysOf(skill('none.sh'))
    assert.equal((await send(app, 'PUT', '/skills/count', zip)).statusCode, 200)
    const { conversation_id } = turn
    const next = await ask({ conversation_id, message: 'And now?' })
    assert.deepEqual(outputsOf(next), ['2 lines'])
  })

  test('shows the model both ends of a long output, and keeps all of it', async (t) => {
    const opened = await coderWithBash(t, [bash('seq 100000 129999', 'call_long'), say('Long.')])
    if (!opened) return
    const { app, ask, sent } = opened
    const { conversation_id } = await ask({ message: 'Count' })
    const whole = Array.from({ length: 30_000 }, (_, index) => 100_000 + index).join('\n')
    const shown = sent()[1]?.results[0]?.text ?? ''
    const [head = '', marker = '', tail = ''] = shown.split(/\n(…[^…]*…)\n/)
    assert.equal(head.length + tail.length, 50_000)
    assert.ok(whole.startsWith(head) && whole.endsWith(tail))
    assert.match(marker, new RegExp(`of ${whole.length} characters .*call_long`))

    const part = async (query: string) => {
      const path = `/conversations/${conversation_id}/tool-results/call_long${query}`
      const { output, total } = (await get(app, path)).json()
      assert.equal(total, whole.length)
      return output
    }
    assert.equal(await part('?limit=1000000'), whole)
    assert.equal(await part(''), whole.slice(0, 50_000))
    assert.equal(await part('?offset=123456&limit=7'), whole.slice(123_456, 123_463))
    assert.equal(await part('?offset=9999999'), '')
    const bad = await get(app, `/conversations/${conversation_id}/tool-results/call_none`)
    assert.equal(bad.json().code, 'tool_result_not_found')
  })

  test('keeps the files of two conversations apart, and removes them with the conversation', async (t) => {
    const secret = write('secret.txt', 'SECRET-4711')
    const script = [secret, say('Written.'), call('glob', { pattern: '**' }), say('Nothing.')]
    const { app, ask, sent, workspaces, folder } = await coder(t, script)
    const one = (await ask({ message: 'Write it' })).conversation_id
    const other = await ask({ message: 'What is there?' })
    assert.deepEqual(outputsOf(other), ['(no matches)'])
    assert.ok(!JSON.stringify(sent().slice(2)).includes('SECRET-4711'))
    assert.deepEqual(await readdir(folder(one)), ['secret.txt'])

    const gone = await send(app, 'DELETE', `/conversations/${one}`)
    assert.equal(gone.statusCode, 204)
    const left = await readdir(workspaces)
    assert.ok(!left.includes(one), String(left))
    assert.ok(left.includes(other.conversation_id), String(left))
  })

  test('reaches the files of no other conversation by a path or a command', async (t) => {
    const reach = (id: string) => [
      call('read_file', { path: `../${id}/secret.txt` }),
      call('glob', { pattern: `../${id}/*` }),
    ]
    const script = [
      write('secret.txt', 'SECRET-4711'),
      say('Written.'),
      atOnce(...reach(FIRST), bash('cat /workspace/../*/secret.txt; ls -A /workspace')),
      say('Nothing.'),
    ]
    const opened = await coderWithBash(t, script)
    if (!opened) return
    assert.equal((await opened.ask({ message: 'Write it' })).conversation_id, FIRST)
    const turn = await opened.ask({ message: 'Read it' })
    const [path, pattern, command] = toolResults(turn.messages)
    assert.deepEqual([path?.is_error, pattern?.is_error], [true, true])
    assert.doesNotMatch(command?.output ?? '', /SECRET|secret\.txt$/)
  })
})
