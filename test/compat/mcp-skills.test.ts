import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { pino } from 'pino'
import { buildTestApp, publish, put, skillMd, type TestApp } from '../build-app.ts'
import { patch, remove } from '../requests.ts'
import { answerOf, connectMcp, ERAS, message, sendMcp, store } from './mcp-wire.ts'

const BOM_AND_CRLF = '\ufeff---\r\nname: odd\r\ndescription: As it came.\r\n---\r\nBody\r\n'

const ask = async (app: TestApp, method: string, params: object = {}) =>
  answerOf(await sendMcp(app, message(method, params)))

for (const era of ERAS) {
  suite(`the skills extension at /mcp, ${era}`, () => {
    test('serves each skill so that a client takes every file of it', async (t) => {
      const app = await buildTestApp(t)
      const files = {
        'references/a b&c#1.md': '# Ä\r\n',
        'references/deep/100%.txt': '',
        'assets/logo.png': Buffer.from([0x89, 0x50, 0xff, 0]),
      }
      await store(app, skillMd('greet', 'Hi', 'license: MIT\n'), files)
      await publish(app, BOM_AND_CRLF)
      const client = await connectMcp(t, app, { era })
      const skills = new SkillsClient(client)
      assert.ok(skills.supported && skills.directoryRead)
      const { skills: listed, ttlMs, cacheScope } = await skills.list()
      assert.deepEqual(
        listed.map(({ uri }) => uri),
        ['skill://greet/SKILL.md', 'skill://odd/SKILL.md'],
      )
      assert.deepEqual(
        [ttlMs, cacheScope],
        era === 'auto' ? [0, 'private'] : [undefined, undefined],
      )
      const [greet, odd] = listed
      assert.ok(greet && odd)
      assert.deepEqual((await skills.get(greet.uri)).skill, greet)
      for (const [path, bytes] of Object.entries(files)) {
        const file = await skills.read(greet, path.split('/').map(encodeURIComponent).join('/'))
        assert.deepEqual(Buffer.from(file.bytes), Buffer.from(bytes))
        assert.ok(file.verified)
        assert.equal(file.text === undefined, path.endsWith('.png'))
      }
      assert.equal((await skills.read(greet)).frontmatter?.license, 'MIT')
      assert.equal((await skills.read(odd)).text, BOM_AND_CRLF)
    })

    test('reads folders, whose files are spelled as in the entry', async (t) => {
      const app = await buildTestApp(t)
      const files = { "r/it's (a+b).md": '', 'r/ü/~x.md': '', 'r/a@b:c.md': '', 'z.md': 'zz' }
      await store(app, skillMd('greet'), files)
      const skills = new SkillsClient(await connectMcp(t, app, { era }))
      const found: string[] = []
      const walk = async (uri: string): Promise<void> => {
        for (const child of (await skills.readDirectory(uri)).resources) {
          if (child.mimeType === 'inode/directory') await walk(child.uri)
          else found.push(child.uri)
        }
      }
      await walk('skill://greet')
      const { skill } = await skills.get('skill://greet/SKILL.md')
      assert.ok(skill.resources !== 'dynamic')
      assert.deepEqual(found.toSorted(), skill.resources.map(({ uri }) => uri).toSorted())
      const { resources } = await skills.readDirectory('skill://greet')
      assert.deepEqual(
        resources.map(({ name, mimeType, size }) => [name, mimeType, size]),
        [
          ['SKILL.md', 'text/markdown', Buffer.byteLength(skillMd('greet'))],
          ['r', 'inode/directory', undefined],
          ['z.md', 'text/markdown', 2],
        ],
      )
    })

    test('lists every SKILL.md as a resource', async (t) => {
      const app = await buildTestApp(t)
      await publish(app, skillMd('greet'))
      const client = await connectMcp(t, app, { era })
      const { resources } = await client.listResources()
      assert.deepEqual(resources, [
        {
          uri: 'skill://greet/SKILL.md',
          name: 'greet',
          description: 'Says hello to whoever comes in. Use when somebody greets.',
          mimeType: 'text/markdown',
        },
      ])
      const { contents } = await client.readResource({ uri: 'skill://greet/SKILL.md' })
      assert.deepEqual(contents, [
        { uri: 'skill://greet/SKILL.md', mimeType: 'text/markdown', text: skillMd('greet') },
      ])
    })
  })
}

suite('what the skills extension serves', () => {
  test('comes in pages of 50, and is what is stored now', async (t) => {
    const app = await buildTestApp(t)
    const names = Array.from({ length: 120 }, (_, n) => `skill-${String(n).padStart(3, '0')}`)
    for (const name of names) await publish(app, skillMd(name))
    const first = (await ask(app, 'skills/list')).result
    assert.equal(first.skills.length, 50)
    const skills = new SkillsClient(await connectMcp(t, app))
    const listed = async () => (await skills.list()).skills.map(({ frontmatter: { name } }) => name)
    assert.deepEqual(await listed(), names)
    await remove(app, 'skill-000')
    await patch(app, 'skill-001', { enabled: false })
    await put(app, 'skill-002', skillMd('skill-002', 'NEW', 'license: MIT\n'))
    assert.deepEqual(await listed(), names.slice(2))
    const { skill } = await skills.get('skill://skill-002/SKILL.md')
    assert.equal(skill.frontmatter.license, 'MIT')
    assert.match((await skills.read(skill)).body ?? '', /NEW/)
    const { error } = await ask(app, 'skills/list', { cursor: 'made-up' })
    assert.equal(error.code, -32602)
  })

  test('comes in pages within a folder, too', async (t) => {
    const app = await buildTestApp(t)
    const names = Array.from({ length: 70 }, (_, n) => `${String(n).padStart(2, '0')}.md`)
    await store(app, skillMd('greet'), Object.fromEntries(names.map((name) => [`r/${name}`, ''])))
    const uri = 'skill://greet/r'
    assert.equal((await ask(app, 'resources/directory/read', { uri })).result.resources.length, 50)
    const { resources } = await new SkillsClient(await connectMcp(t, app)).readDirectory(uri)
    assert.deepEqual(
      resources.map(({ name }) => name),
      names,
    )
  })

  test('includes a skill that models may not load themselves', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('secret', 'B', 'disable-model-invocation: true\n'))
    const { result } = await ask(app, 'skills/list')
    assert.equal(result.skills[0].frontmatter['disable-model-invocation'], true)
  })

  test('reads frontmatter as plain YAML', async (t) => {
    const app = await buildTestApp(t)
    await publish(app, skillMd('greet', 'B', 'version: 1.10\nn: 007\nyes: yes\nday: 2026-01-01\n'))
    const { result } = await ask(app, 'skills/list')
    const { version, n, yes, day } = result.skills[0].frontmatter
    assert.deepEqual([version, n, yes, day], [1.1, 7, 'yes', '2026-01-01'])
  })

  test('leaves out what clients would not take, says so once, and harms no other', async (t) => {
    const logged: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
    const app = await buildTestApp(t, { log })
    await publish(app, skillMd('numbers', 'B', 'metadata:\n  version: 1.10\n'))
    await publish(app, skillMd('endless', 'B', 'limit: .inf\n'))
    await publish(app, '---\ndescription: a: b\nname: lenient\n---\nB\n', '?mode=lenient')
    await publish(app, skillMd('sound'))
    const big = Buffer.alloc(6 * 1024 * 1024)
    await store(app, skillMd('heavy'), { a: big, b: big, c: big })
    for (let times = 0; times < 2; times++) {
      const { result } = await ask(app, 'skills/list')
      assert.deepEqual(
        result.skills.map(({ uri }: { uri: string }) => uri),
        ['skill://sound/SKILL.md'],
      )
    }
    const { error } = await ask(app, 'skills/get', { uri: 'skill://numbers/SKILL.md' })
    assert.equal(error.code, -32602)
    const names = logged.map((line) => JSON.parse(line)).filter(({ reason }) => reason)
    assert.deepEqual(names.map(({ skill }) => skill).toSorted(), [
      'endless',
      'heavy',
      'lenient',
      'numbers',
    ])
    const { result } = await ask(app, 'tools/call', {
      name: 'load_skill',
      arguments: { name: 'lenient' },
    })
    assert.match(result.content[0].text, /^<skill name="lenient"/)
  })

  test('ends at its own files', async (t) => {
    const app = await buildTestApp(t)
    await store(app, skillMd('greet'), { 'r/a.md': 'x' })
    await publish(app, skillMd('other'))
    await publish(app, skillMd('off'))
    await patch(app, 'off', { enabled: false })
    const read = 'resources/read'
    const list = 'resources/directory/read'
    for (const [method, uri] of [
      [read, 'skill://greet'],
      [read, 'skill://greet/r'],
      [read, 'skill://greet/nothing.md'],
      [read, 'skill://greet/../other/SKILL.md'],
      [read, 'skill://greet/%2e%2e/other/SKILL.md'],
      [read, 'skill://greet/r%2Fa.md'],
      [read, 'skill://greet/r//a.md'],
      [read, 'skill://greet/SKILL.md?x'],
      [read, 'skill://greet/%00'],
      [read, 'skill://greet/%ff'],
      [read, 'skill://Greet/SKILL.md'],
      [read, 'skill://user@greet/SKILL.md'],
      [read, 'skill://__proto__/SKILL.md'],
      [read, 'skill://off/SKILL.md'],
      [read, 'skill:greet/SKILL.md'],
      [read, 'file:///etc/passwd'],
      [read, 'no uri'],
      [list, 'skill://greet/r/'],
      [list, 'skill://greet/r/a.md'],
      [list, 'skill://greet/nothing'],
      [list, 'skill://off'],
      [list, 'skill://'],
      [list, 'no uri'],
      ['skills/get', 'skill://greet'],
      ['skills/get', 'skill://greet/r/a.md'],
      ['skills/get', 'skill://gree%74/SKILL.md'],
      ['skills/get', 'skill://off/SKILL.md'],
      ['skills/get', 'no uri'],
    ] as const) {
      const { error } = await ask(app, method, { uri })
      assert.equal(error?.code, -32602, `${method} ${uri}`)
    }
  })
})
