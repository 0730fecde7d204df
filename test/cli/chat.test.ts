import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stream } from '../agent/fake-provider.ts'
import { messageStart, textBlock } from '../agent/wire.ts'
import { publish, skillMd } from '../build-app.ts'
import { ROOT, until } from '../run-service.ts'
import { atOnce, call, load, say, scriptedModel } from '../scripted-model.ts'
import { noTerminal, runCli, serve, spawnCli, spawnInTerminal } from './run-cli.ts'

const SKILLS_DIR = join(ROOT, 'skills')

test('chat streams the answer of the offline model, and shows what it loads', async (t) => {
  const { env } = await serve(t, { SKILLS_DIR })

  const { code, stdout, stderr } = await runCli(t, ['chat', 'Please', 'fill this PDF form'], {
    env,
  })
  assert.equal(code, 0)
  assert.match(stdout, /^I am the offline model\. I loaded the skill pdf [^\n]+\n$/)
  assert.match(stderr, /^→ load_skill pdf \(v1, \d,\d{3} tokens\)\nconv_\w+, 2 steps\n$/)
})

test('a message may come on standard input, and --json gives every event', async (t) => {
  const { env } = await serve(t, { SKILLS_DIR })

  const { code, stdout } = await runCli(t, ['chat', '--json'], { env, input: 'Fill a PDF form\n' })
  assert.equal(code, 0)
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const types = events.map(({ type }) => type)
  assert.deepEqual([types[0], types.at(-1)], ['turn.started', 'turn.finished'])
  const loaded = events.find(({ type }) => type === 'skill.loaded')
  assert.equal(loaded.name, 'pdf')
  const text = events.map(({ text = '' }) => text).join('')
  assert.equal(events.at(-1).output, text)
})

test('a conversation goes on by its id, with the agent and the skills it is given', async (t) => {
  const { env: model, sent } = await scriptedModel(t, say('Hello.'), say('Again.'))
  const { app, env } = await serve(t, model)
  await publish(app, skillMd('greet', 'Say good day.'))

  const first = await runCli(t, ['chat', 'One', '--preload', 'greet'], { env })
  assert.equal(first.stdout, 'Hello.\n')
  assert.match(first.stderr, /^→ load_skill greet \(v1, \d+ tokens\)\n/)
  const [id = ''] = /conv_\w+/.exec(first.stderr) ?? []
  const second = await runCli(t, ['chat', 'Two', '--conversation', id], { env })
  assert.equal(second.stdout, 'Again.\n')
  assert.ok(second.stderr.includes(id))
  assert.match(
    JSON.stringify(sent()[1]?.messages),
    /Say good day\.[\s\S]*One[\s\S]*Hello\.[\s\S]*Two/,
  )
  const unknown = await runCli(t, ['chat', 'Hello', '--agent', 'nobody'], { env })
  assert.equal(unknown.code, 5)
  assert.match(unknown.stderr, /agent_not_found/)
})

test('what the model says cannot steer the terminal, and a failed call is shown', async (t) => {
  const { env: model } = await scriptedModel(t, load('nothing'), say('Not \u001b[2Jthere.'))
  const { app, env } = await serve(t, model)
  await publish(app, skillMd('greet'))

  const { stdout, stderr } = await runCli(t, ['chat', 'Hello'], { env })
  assert.equal(stdout, 'Not [2Jthere.\n')
  assert.match(stderr, /^✗ load_skill: [^\n]*"nothing"/)
})

test('a turn that does not end well is told, and ends with 1', async (t) => {
  const { env: model } = await scriptedModel(t, { text: 'Half', stop: 'max_tokens' })
  const { env } = await serve(t, model)

  const { code, stdout, stderr } = await runCli(t, ['chat', 'Hello'], { env })
  assert.deepEqual([code, stdout], [1, 'Half\n'])
  assert.match(stderr, /incomplete \(max_tokens\)/)
})

test('a model that fails ends with 5', async (t) => {
  const { env: model } = await scriptedModel(t, (response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}')
  })
  const { env } = await serve(t, model)

  const { code, stdout, stderr } = await runCli(t, ['chat', 'Hello'], { env })
  assert.deepEqual([code, stdout], [5, ''])
  assert.match(stderr, /^loadskill: [^\n]*\(model_\w+, 50\d\)\nIn its log this is req_/)
})

test('no message is a wrong command line', async (t) => {
  const { code, stderr } = await runCli(t, ['chat'], { input: ' \n' })

  assert.deepEqual([code, stderr], [2, 'loadskill: There is no message.\n'])
})

/** A service whose model wants to cancel two orders, which has to be approved. */
async function serveShop(t: TestContext) {
  const cancelled: string[] = []
  const shop = createServer(({ url = '' }, response) => {
    cancelled.push(url)
    response.end('done')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  t.after(() => shop.close())
  const address = shop.address()
  assert.ok(address && typeof address === 'object')
  const host = `127.0.0.1:${address.port}`
  const { env: model } = await scriptedModel(
    t,
    atOnce(call('cancel_order', { id: 'a1' }), call('cancel_order', { id: 'b2' })),
    say('One is cancelled.'),
  )
  const { app, env } = await serve(t, { ...model, TOOLS_ALLOW_HOSTS: host })
  const tool = {
    description: 'Cancels an order.',
    approval: true,
    input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    request: { method: 'POST', url: `http://${host}/orders/{{input.id}}` },
  }
  const put = { method: 'PUT', url: '/api/v1/tools/cancel_order', payload: tool } as const
  assert.equal((await app.inject(put)).statusCode, 201)
  return { env, cancelled }
}

test('calls that need an approval wait where nobody can be asked', async (t) => {
  const { env, cancelled } = await serveShop(t)

  const { code, stderr } = await runCli(t, ['chat', 'Cancel both'], { env })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /requires_action \(approval\), waits for cancel_order \{"id":"a1"\}, cancel_order/,
  )
  assert.match(stderr, /: loadskill chat --conversation conv_\w+ asks\n$/)
  assert.deepEqual(cancelled, [])
})

test('a terminal asks for each approval', { skip: noTerminal, timeout: 120_000 }, async (t) => {
  const { env, cancelled } = await serveShop(t)
  const { child, ended, said } = spawnInTerminal(t, ['chat', 'Cancel both'], { env })
  const answer = async (question: RegExp, line: string) => {
    await until(() => question.test(said.stdout))
    child.stdin?.write(line)
  }

  await answer(/Run cancel_order \{"id":"a1"\}\? \(y\/N\) /, 'y\r')
  await answer(/Run cancel_order \{"id":"b2"\}\? \(y\/N\) /, '\r')
  assert.deepEqual(await ended, [0, null])
  assert.deepEqual(cancelled, ['/orders/a1'])
  assert.match(said.stdout, /One is cancelled\./)
})

test('a terminal without a message talks line by line, in one conversation', {
  skip: noTerminal,
  timeout: 120_000,
}, async (t) => {
  const { env: model, requests } = await scriptedModel(t, say('Hello.'), say('Bye.'))
  const { env } = await serve(t, model)
  const { child, ended, said } = spawnInTerminal(t, ['chat'], { env })
  const prompts = () => said.stdout.split('› ').length - 1
  const type = async (after: () => boolean, line: string) => {
    await until(after)
    child.stdin?.write(line)
  }

  await type(() => prompts() > 0, 'One\r')
  await type(() => /Hello\.[\s\S]*›/.test(said.stdout), 'Two\r')
  await type(() => /Bye\.[\s\S]*›/.test(said.stdout), '\u0004')
  assert.deepEqual(await ended, [0, null])
  assert.equal(requests.length, 2)
  const ids = new Set(said.stdout.match(/conv_\w+/g))
  assert.equal(ids.size, 1)
})

test('a conversation that waits asks when it goes on in a terminal', {
  skip: noTerminal,
  timeout: 120_000,
}, async (t) => {
  const { env, cancelled } = await serveShop(t)
  const { stderr } = await runCli(t, ['chat', 'Cancel both'], { env })
  const [id = ''] = /conv_\w+/.exec(stderr) ?? []
  const { child, ended, said } = spawnInTerminal(t, ['chat', '--conversation', id], { env })

  for (const [question, line] of [
    [/"a1"\}\? \(y\/N\) /, 'n\r'],
    [/"b2"\}\? \(y\/N\) /, 'yes\r'],
    [/One is cancelled\.[\s\S]*› /, '\u0004'],
  ] as const) {
    await until(() => question.test(said.stdout))
    child.stdin?.write(line)
  }
  assert.deepEqual(await ended, [0, null])
  assert.deepEqual(cancelled, ['/orders/b2'])
})

test('Ctrl-C in the middle of an answer ends with 130', async (t) => {
  const { env: model } = await scriptedModel(t, (response) =>
    stream([messageStart, ...textBlock(0, 'One ')], 'hang')(response),
  )
  const { env } = await serve(t, model)
  const { child, ended, said } = spawnCli(t, ['chat', 'Hello'], { env })

  await until(() => said.stdout === 'One ')
  child.kill('SIGINT')
  assert.deepEqual(await ended, [130, null])
  assert.deepEqual(said, { stdout: 'One \n', stderr: 'loadskill: stopped.\n' })
})
