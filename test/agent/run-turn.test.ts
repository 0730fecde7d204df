import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { Agent } from '../../src/agent/agent.ts'
import { createAgents } from '../../src/agent/agents.ts'
import type { Chats } from '../../src/agent/chats.ts'
import { openHooks } from '../../src/agent/hooks/open-hooks.ts'
import { openModels } from '../../src/agent/models/open.ts'
import { openTurn } from '../../src/agent/open-turn.ts'
import { runTurn } from '../../src/agent/run-turn.ts'
import { readConfig } from '../../src/config.ts'
import { createRegistry } from '../../src/registry/registry.ts'
import { createChatStore } from '../../src/store/chat-store.ts'
import { createDefinitionStore } from '../../src/store/definition-store.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createSkillStore } from '../../src/store/skill-store.ts'
import { createMeters } from '../../src/telemetry/meters.ts'
import { skillMd } from '../build-app.ts'
import { atOnce, call, load, type Said, scriptedModel } from '../scripted-model.ts'

const KIB = 1024
const limits = { skillBytes: KIB, fileBytes: KIB, bundleBytes: KIB, files: 1 }
const ask = {
  name: 'ask',
  description: 'Asks the caller.',
  inputSchema: { type: 'object', properties: {} },
}

/** Runs a turn up to an event of the type, and leaves there. Resolves to the turn as it is stored. */
async function leaveAt(t: TestContext, type: string, said: Said) {
  const { env } = await scriptedModel(t, said)
  const db = await openDatabase('sqlite::memory:')
  const models = openModels(readConfig(env))
  t.after(async () => {
    await models.close()
    await db.destroy()
  })
  const skills = createSkillStore(db)
  const chats: Chats = createChatStore(db)
  const registry = createRegistry(skills, limits, [])
  const upload = { files: [{ path: 'SKILL.md', bytes: Buffer.from(skillMd('greet')) }] }
  await registry.publish({ ...upload, mode: 'strict' }, { source: { type: 'api' }, by: null })

  const defaults = {
    allowedToolsMode: 'restrict' as const,
    catalogMaxTokens: 4000,
    catalogTags: false,
    maxOutputTokens: 100,
    contextMaxTokens: 100_000,
  }
  const agents = createAgents(createDefinitionStore<Agent>(db, 'agents'))
  const log = pino({ level: 'silent' })
  const hooks = await openHooks({ modules: [], urls: [], secret: undefined, fetch, log })
  const tools = { tools: async () => [] }
  const { observer } = createMeters()
  const parts = { skills, chats, registry, models, agents, hooks, observer, tools, defaults }
  const open = await openTurn(parts, {
    conversationId: null,
    agent: null,
    owner: null,
    dayBudget: null,
    recording: undefined,
    seesAll: true,
    settings: { tools: [ask] },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Greet them.' }] }],
    preload: [],
    results: [],
    approvals: [],
  })
  for await (const event of runTurn(parts, open, new AbortController().signal)) {
    if (event.type === type) break
  }
  return chats.lastTurn(open.conversation.id)
}

test('who leaves while a turn runs interrupts it', async (t) => {
  const turn = await leaveAt(t, 'tool.called', atOnce(load('greet'), call('ask')))
  assert.deepEqual([turn?.status, turn?.stopReason], ['interrupted', 'cancelled'])
})

for (const [what, said, type, status, stopReason] of [
  [
    'waits for the caller',
    atOnce(load('greet'), call('ask')),
    'skill.loaded',
    'requires_action',
    'tool_calls',
  ],
  ['has answered', { text: 'Hello.' }, 'step.finished', 'completed', 'answered'],
] as const) {
  test(`who leaves once a turn ${what} takes nothing back`, async (t) => {
    const turn = await leaveAt(t, type, said)
    assert.deepEqual([turn?.status, turn?.stopReason], [status, stopReason])
  })
}
