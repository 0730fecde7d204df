import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { talk, temporaryFolder } from '../agent/talk.ts'
import { buildTestApp, get, publish, type TestApp } from '../build-app.ts'
import { say } from '../scripted-model.ts'

const MARKER = 'MARKER-4711'

const codesOf = async (app: TestApp, content: string, query = '') => {
  const response = await publish(app, content, query)
  const { errors } = response.json()
  return [response.statusCode, errors?.map(({ code }: { code: string }) => code)]
}
const skillOf = async (app: TestApp, name: string) => (await get(app, `/skills/${name}`)).json()
const bytesOf = async (app: TestApp, name: string) =>
  (await get(app, `/skills/${name}/content`)).rawPayload
const catalogOf = async (app: TestApp) => (await get(app, '/catalog')).body

suite('the ten tests of the old loader', { concurrency: 2 }, () => {
  test('T1: the catalog line is in the system prompt, the body is not, and the file is kept', async (t) => {
    const line = '- code-review: Review code for bugs, regressions, and missing tests.'
    const file = `---\nname: code-review\ndescription: |\n  Review code for bugs,\n  regressions, and missing tests.\n---\n# Review\n${MARKER}\n`
    const { app, ask, sent } = await talk(t, [say('Hello.')], { skills: [file] })
    await ask({ message: 'Hi' })
    assert.equal(await catalogOf(app), line)
    const system = sent()[0]?.system ?? ''
    assert.ok(system.split('\n').includes(line))
    assert.ok(!system.includes(MARKER))
    assert.deepEqual(await bytesOf(app, 'code-review'), Buffer.from(file))
  })

  test('T2: a skill in Chinese comes back byte for byte', async (t) => {
    const app = await buildTestApp(t)
    const file = '---\nname: chinese-skill\ndescription: 处理中文内容\n---\n# 步骤\n先读，再答。\n'
    assert.equal((await publish(app, file)).statusCode, 201)
    assert.deepEqual(await bytesOf(app, 'chinese-skill'), Buffer.from(file))
    const { description, body } = await skillOf(app, 'chinese-skill')
    assert.deepEqual([description, body], ['处理中文内容', '# 步骤\n先读，再答。\n'])
    assert.equal(await catalogOf(app), '- chinese-skill: 处理中文内容')
  })

  test('T3: without skills the prompt is the instructions, and the tools are the caller’s', async (t) => {
    const { ask, sent } = await talk(t, [say('Hello.')])
    const tools = [{ name: 'get_order', input_schema: { type: 'object' } }]
    const turn = await ask({ message: 'Hi', instructions: 'Be brief.', tools })
    assert.equal(sent()[0]?.system, 'Be brief.')
    assert.deepEqual(sent()[0]?.tools, ['get_order'])
    assert.deepEqual(turn.receipt.catalog, {
      revision: 0,
      tokens: 0,
      offered: 0,
      shortened: 0,
      omitted: 0,
    })
  })

  test('T9: what a link in the skills directory leads to is never shown', async (t) => {
    const root = await temporaryFolder(t)
    const skill = (name: string, text: string) =>
      `---\nname: ${name}\ndescription: Use when ${text}.\n---\n${text}\n`
    const outside = join(root, 'outside.md')
    await writeFile(outside, skill('linked', MARKER))
    for (const folder of ['good', 'linked'])
      await mkdir(join(root, 'skills', folder), { recursive: true })
    await writeFile(join(root, 'skills/good/SKILL.md'), skill('good', 'asked'))
    await symlink(outside, join(root, 'skills/linked/SKILL.md'))

    const env = { SKILLS_DIR: join(root, 'skills') }
    const { app, ask, sent } = await talk(t, [say('Hello.')], { env })
    await ask({ message: 'Hi' })
    assert.equal(await catalogOf(app), '- good: Use when asked.')
    assert.equal((await get(app, '/skills/linked')).statusCode, 404)
    assert.ok(!JSON.stringify([sent(), await skillOf(app, 'good')]).includes(MARKER))
  })
})

test('the ten tests of the old loader: what is no sound skill', async (t) => {
  const app = await buildTestApp(t)

  await t.test('T4: a first line that only begins with dashes opens nothing', async () => {
    const file = '---not frontmatter\n---\n# Body\n'
    assert.deepEqual(await codesOf(app, file), [422, ['frontmatter_missing']])
    assert.equal((await publish(app, file, '?mode=lenient&name=plain')).statusCode, 201)
    assert.equal((await skillOf(app, 'plain')).body, file)
    assert.deepEqual(await bytesOf(app, 'plain'), Buffer.from(file))
  })

  for (const [what, end] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ] as const) {
    await t.test(`T5: dashes within a block scalar close nothing, with ${what}`, async () => {
      const name = `dashes-${what.toLowerCase()}`
      const lines = [
        '---',
        `name: ${name}`,
        'description: |',
        '  before',
        '  ---',
        '  after',
        '---',
      ]
      const file = [...lines, '# Body', ''].join(end)
      assert.equal((await publish(app, file)).statusCode, 201)
      const { description, body } = await skillOf(app, name)
      assert.match(description, /^before\n---\nafter$/)
      assert.equal(body, '# Body\n')
      assert.deepEqual(await bytesOf(app, name), Buffer.from(file))
    })
  }

  await t.test(
    'T6: an empty name and description are both told, or both found elsewhere',
    async () => {
      const file = '---\nname:\ndescription:\n---\n# Body description\n'
      assert.deepEqual(await codesOf(app, file), [422, ['name_missing', 'description_missing']])
      assert.equal((await publish(app, file, '?mode=lenient&name=fallback-skill')).statusCode, 201)
      assert.equal((await skillOf(app, 'fallback-skill')).description, 'Body description')
    },
  )

  await t.test('T7: a name alone is no skill', async () => {
    const file = '---\nname: lonely\n---\n'
    for (const query of ['', '?mode=lenient']) {
      assert.deepEqual(await codesOf(app, file, query), [422, ['description_missing']])
    }
    assert.equal((await get(app, '/skills/lonely')).statusCode, 404)
  })

  await t.test('T8: a list as name and description is told, or passed over', async () => {
    const file = '---\nname: [bad]\ndescription: [bad]\n---\n# Typed fallback\n'
    assert.deepEqual(await codesOf(app, file), [422, ['name_not_string', 'description_not_string']])
    assert.equal((await publish(app, file, '?mode=lenient&name=typed')).statusCode, 201)
    assert.equal((await skillOf(app, 'typed')).description, 'Typed fallback')
  })

  await t.test('T10: a list as frontmatter is refused in both modes', async () => {
    const file = '---\n- one\n- two\n---\n# Body\n'
    for (const query of ['', '?mode=lenient&name=list']) {
      assert.deepEqual(await codesOf(app, file, query), [422, ['frontmatter_not_mapping']])
    }
  })
})
