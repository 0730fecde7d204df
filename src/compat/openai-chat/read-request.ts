import type { Chats } from '../../agent/chats.ts'
import type { ModelRequest } from '../../agent/model.ts'
import type { TurnRequest } from '../../agent/open-turn.ts'
import type { Settings } from '../../agent/settings.ts'
import type { CompletionBody } from './body.ts'
import { type Conversed, type Result, readMessages, unanswered } from './read-messages.ts'
import { refuse } from './refusal.ts'

type Asked = Pick<
  TurnRequest,
  | 'conversationId'
  | 'agent'
  | 'settings'
  | 'messages'
  | 'preload'
  | 'results'
  | 'approvals'
  | 'approvable'
>

/**
 * What a request for a completion asks of the agent: that a turn of its owner goes on whose calls
 * it answers, something new in the conversation it names, or a conversation of its own.
 */
export async function readRequest(
  chats: Pick<Chats, 'find' | 'findWaiting' | 'lastCalls'>,
  body: CompletionBody,
  owner: string | null,
): Promise<Asked> {
  if ((body.n ?? 1) !== 1) {
    throw refuse('unsupported_parameter', '/n', 'One answer is given: leave "n" out.')
  }
  const said = readMessages(body.messages)
  const asked = {
    agent: body.model,
    settings: readSettings(body, said.system),
    preload: [],
    approvals: [],
    approvable: false,
  }
  const named = body.metadata?.conversation_id ?? null
  const waiting = await waitingFor(chats, body.model, said.results, owner)
  if (waiting !== undefined && (named === null || named === waiting)) {
    return { ...asked, conversationId: waiting, messages: [], results: said.results }
  }
  const messages = named === null ? said.history : newIn(said)
  if (messages.length === 0) {
    throw refuse('body_invalid', '/messages', 'There is no message to answer.')
  }
  return { ...asked, conversationId: named, messages, results: [] }
}

/** What is told to a conversation that has the rest already. */
function newIn({ latest, results }: Conversed) {
  if (results.length === 0) return latest
  const what = 'The results are of no calls that wait in the conversation.'
  throw refuse('call_not_pending', '/messages', what)
}

/** The conversation whose turn waits for these results, which have to be all of them. */
async function waitingFor(
  chats: Pick<Chats, 'find' | 'findWaiting' | 'lastCalls'>,
  agent: string,
  results: readonly Result[],
  owner: string | null,
): Promise<string | undefined> {
  if (results.length === 0) return undefined
  const given = results.map(({ callId }) => callId)
  const id = await chats.findWaiting(given, owner)
  if (id === undefined || (await chats.find(id))?.agent !== agent) return undefined
  const calls = (await chats.lastCalls(id)).filter(
    ({ kind, result }) => kind === 'client' && result === null,
  )
  for (const { callId } of calls) if (!given.includes(callId)) throw unanswered(callId)
  return id
}

function readSettings(body: CompletionBody, system: string | null): Partial<Settings> {
  const tools = body.tool_choice === 'none' ? [] : (body.tools ?? [])
  return {
    afterCatalog: system,
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? '',
      inputSchema: parameters ?? { type: 'object', properties: {} },
    })),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? null,
    temperature: body.temperature ?? null,
  }
}

/** Throws where a tool is named that the caller does not bring. */
export function readToolChoice({
  tool_choice: choice,
  tools,
}: CompletionBody): ModelRequest['toolChoice'] {
  if (choice == null || choice === 'auto' || choice === 'none') return undefined
  if (choice === 'required') {
    if (tools?.length) return choice
    throw refuse('body_invalid', '/tool_choice', 'It needs "tools" to choose from.')
  }
  const { name } = choice.function
  if (tools?.some((tool) => tool.function.name === name)) return { name }
  const what = `There is no tool "${name.slice(0, 64)}" in "tools".`
  throw refuse('body_invalid', '/tool_choice', what)
}
