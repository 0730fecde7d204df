import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { get } from '../build-app.ts'
import { atOnce, load, say } from '../scripted-model.ts'
import { bash, coderWithBash, write } from './coder.ts'
import { toolResults } from './ticket-shop.ts'

suite('what a coding agent never runs, and what it asks for', { concurrency: 2 }, () => {
  const SHELL = {
    'SKILL.md':
      '---\nname: shell\ndescription: Runs commands. Use when asked to.\nallowed-tools: Bash\n---\nRun.\n',
  }
  const NEVER = [
    'rm -rf /',
    'sudo ls',
    'shutdown now',
    'reboot',
    'mkfs /dev/sda1',
    'dd if=/dev/zero of=x',
    'echo x > /dev/sda',
  ]
  for (const mode of ['restrict', 'preapprove', 'off']) {
    test(`never runs what is on the deny list (PM-01), with ${mode} and a skill that lists bash`, async (t) => {
      const script = [load('shell'), atOnce(...NEVER.map((command) => bash(command))), say('Oh.')]
      const opened = await coderWithBash(t, script, '')
      if (!opened) return
      await opened.upload(SHELL)
      const turn = await opened.ask({ message: 'Wipe it', allowed_tools_mode: mode })
      assert.equal(turn.status, 'completed')
      for (const { output, is_error } of toolResults(turn.messages).slice(1)) {
        assert.match(output ?? '', /^The command was refused: /)
        assert.equal(is_error, true)
      }
      assert.deepEqual(
        turn.receipt.denied,
        NEVER.map(() => ({ tool: 'bash', skill: null, by: 'rule', step: 2 })),
      )
      assert.ok(!(await readdir(opened.workspaces)).includes(turn.conversation_id))
    })
  }

  const ASKED = [
    bash('rm old.txt', 'call_rm'),
    bash('echo x > /etc/motd', 'call_etc'),
    bash('chmod 777 kept.txt', 'call_chmod'),
  ]
  for (const [mode, loads] of [
    ['restrict', true],
    ['off', false],
  ] as const) {
    test(`asks for what is on the ask list (PM-02), with ${mode}`, async (t) => {
      const opened = await coderWithBash(
        t,
        [
          atOnce(write('old.txt', 'old'), write('kept.txt', 'kept')),
          loads ? load('shell') : bash('true'),
          atOnce(...ASKED, bash('echo rm old.txt')),
          say('Done.'),
        ],
        '',
      )
      if (!opened) return
      const { app, ask, folder, upload } = opened
      await upload(SHELL)
      const turn = await ask({ message: 'Tidy up', allowed_tools_mode: mode })
      const { conversation_id } = turn
      const there = async () => (await readdir(folder(conversation_id))).toSorted()
      const waiting = (one: typeof turn) =>
        one.pending.map(({ call_id, kind }: { call_id: string; kind: string }) => [call_id, kind])

      assert.deepEqual([turn.status, turn.stop_reason], ['requires_action', 'approval'])
      const ids = ['call_rm', 'call_etc', 'call_chmod']
      assert.deepEqual(
        waiting(turn),
        ids.map((id) => [id, 'approval']),
      )
      assert.deepEqual(await there(), ['kept.txt', 'old.txt'])

      const deny = { call_id: 'call_etc', decision: 'deny', reason: 'Leave the system alone.' }
      const first = await ask({
        conversation_id,
        approvals: [deny, { call_id: 'call_rm', decision: 'approve' }],
      })
      assert.deepEqual(waiting(first), [['call_chmod', 'approval']])
      assert.deepEqual(await there(), ['kept.txt'])
      assert.deepEqual(first.receipt.denied, [{ tool: 'bash', skill: null, by: 'caller', step: 3 }])

      // Who says something else instead has not approved it.
      const next = await ask({ conversation_id, message: 'Never mind' })
      assert.equal(next.status, 'completed')
      const settled = (await get(app, `/conversations/${conversation_id}`)).json()
      const results = toolResults(settled.messages).slice(-4)
      assert.deepEqual(
        results.map(({ is_error }) => is_error),
        [false, true, true, false],
      )
      assert.match(results[1]?.output ?? '', /not approved.*Leave the system alone\./)
      assert.equal(results[3]?.output, 'rm old.txt')
    })
  }

  test('with preapprove a skill that lists bash spares the ask list', async (t) => {
    const script = [
      atOnce(load('shell'), write('old.txt', 'old')),
      bash('rm old.txt'),
      say('Gone.'),
    ]
    const opened = await coderWithBash(t, script, '')
    if (!opened) return
    await opened.upload(SHELL)
    const turn = await opened.ask({ message: 'Tidy up', allowed_tools_mode: 'preapprove' })
    assert.equal(turn.status, 'completed')
    assert.deepEqual(await readdir(opened.folder(turn.conversation_id)), [])
  })
})
