import assert from 'node:assert/strict'
import { applyCompaction, type Compaction } from '../../../src/agent/compaction/compaction.ts'
import { loadOn, loadsIn, markLoad } from '../../../src/agent/loads.ts'
import type { Message, ToolResult } from '../../../src/agent/model.ts'
import { loadText } from '../../../src/agent/tools/load-skill.ts'
import { repeatLine } from '../../../src/domain/wrapped-skill.ts'
import { user } from '../ask-model.ts'

export { user }

export const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})

export const resultOf = (callId: string, value: string, toolName = 'read'): ToolResult => ({
  type: 'tool-result',
  toolCallId: callId,
  toolName,
  output: { type: 'text', value },
})

/** Calls made at once, and their results. */
export const step = (...results: ToolResult[]): Message[] => [
  {
    role: 'assistant',
    content: results.map(({ toolCallId, toolName }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: { path: `${toolCallId}.txt` },
    })),
  },
  { role: 'tool', content: results },
]

const BODY = 'Follow each of these steps, and say which one you are at.\n'

const markOf = (name: string, version: number, repeat: boolean) =>
  markLoad({
    name,
    version,
    digest: `${name}-${version}`,
    tokens: 100,
    repeat,
    allowedTools: null,
  })

export const bodyOf = (name: string, lines = 6, version = 1): string =>
  loadText({ name, version, body: `# ${name}\n${BODY.repeat(lines)}`, files: [] })

/** What load_skill answers: the body, or one line when `loads` has it. */
export function loaded(
  callId: string,
  name: string,
  { lines = 6, version = 1, loads = loadsIn([]) } = {},
): ToolResult {
  const repeat = loads.get(name)?.digest === `${name}-${version}`
  const text = repeat ? repeatLine(name, version) : bodyOf(name, lines, version)
  return {
    ...resultOf(callId, text, 'load_skill'),
    providerOptions: markOf(name, version, repeat),
  }
}

/** A user's message with a skill before it. */
export const preloaded = (name: string, text: string, lines = 6): Message => ({
  role: 'user',
  content: [
    { type: 'text', text: bodyOf(name, lines), providerOptions: markOf(name, 1, false) },
    { type: 'text', text },
  ],
})

export const results = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap((part) =>
          part.type === 'tool-result' && part.output.type === 'text' ? [part.output.value] : [],
        )
      : [],
  )

/** What every provider asks: a user's word first, and each call with its results right behind. */
export function assertSendable(view: readonly Message[]): void {
  assert.equal(view[0]?.role, 'user')
  const ids = new Set<string>()
  view.forEach(({ role, content }, index) => {
    if (role !== 'assistant' && role !== 'tool') return
    const before = view[index - 1]
    const made = callIds(role === 'tool' ? before : undefined)
    if (role === 'tool') {
      const answered = content.map((part) => (part.type === 'tool-result' ? part.toolCallId : ''))
      assert.deepEqual(answered, made, 'the results are those of the calls before')
      for (const id of made) assert.ok(!ids.has(id) && ids.add(id), `the id ${id} is new`)
    } else if (callIds(view[index]).length > 0) {
      assert.equal(view[index + 1]?.role, 'tool', 'the calls have results')
    }
  })
}

const callIds = (message: Message | undefined): string[] =>
  message?.role === 'assistant'
    ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
    : []

/** How often a part of a user's message is this text and nothing else. */
export const timesAsked = (view: readonly Message[], text: string): number =>
  view
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .filter((part) => part.type === 'text' && part.text === text && !loadOn(part)).length

/** Every load that is told of has its text in what is sent. */
export function assertBodies(view: readonly Message[], bodies: ReadonlySet<string>): void {
  const texts = view.flatMap((message) => {
    if (message.role === 'user')
      return message.content.map((part) => (part.type === 'text' ? part.text : ''))
    return results([message])
  })
  const there = new Set(texts.filter((text) => bodies.has(text)))
  assert.equal(loadsIn(view).size <= there.size, true, 'no load without its text')
  for (const { name, version } of loadsIn(view).values()) {
    const opening = `<skill name="${name}" version="${version}">`
    assert.ok(
      [...there].some((text) => text.startsWith(opening)),
      `${name} is there`,
    )
  }
}

/** What is added later comes behind, and a compaction that was stored shows the same. */
export function assertStable(messages: readonly Message[], compaction: Compaction): void {
  const view = applyCompaction(messages, compaction)
  const later = applyCompaction(
    [...messages, user('And now?'), ...step(resultOf('later', 'x'.repeat(500)))],
    JSON.parse(JSON.stringify(compaction)),
  )
  assert.equal(later.length, view.length + 3)
  assert.deepEqual(later.slice(0, view.length), view)
}
