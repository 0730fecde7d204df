import type { Denied } from '../domain/receipt.ts'
import { AppError } from '../errors.ts'
import type { Answered, Call, Conversation, Turn, TurnRecording } from '../store/chats.ts'
import { toResult } from './answer-call.ts'
import type { Chats } from './chats.ts'
import type { Message, ToolCall, ToolResult } from './model.ts'
import { inProgress, type OpenTurn, stateOf, type UnansweredCall } from './opened-turn.ts'
import { saveEnd } from './save-end.ts'
import type { Settings } from './settings.ts'
import { toolMessage } from './settle-calls.ts'
import { type WaitingKind, waitingEnd } from './turn-view.ts'

/** What the calls that wait are answered with. Nothing at all lets an interrupted turn go on. */
export interface Continuation {
  results: { callId: string; output: string; isError: boolean }[]
  approvals: { callId: string; decision: 'approve' | 'deny'; reason: string | null }[]
}

type Continued = Pick<
  OpenTurn,
  'conversation' | 'turn' | 'messages' | 'added' | 'unanswered' | 'waiting'
>

/**
 * The last turn goes on. What is open is read off the stored calls, so that it holds after a
 * restart and on another instance; an approved call is marked as started in the very write that
 * takes its approval, and so runs once at most.
 */
export async function continueTurn(
  chats: Chats,
  conversation: Conversation<Settings> | undefined,
  settings: Settings,
  given: Continuation & { recording: TurnRecording | undefined },
): Promise<Continued> {
  const last = conversation && (await chats.lastTurn(conversation.id))
  if (last?.status === 'running') throw inProgress(last.conversationId)
  const answers = given.results.length + given.approvals.length > 0
  if (answers && (!conversation || last?.status !== 'requires_action')) {
    throw notPending((given.results[0] ?? given.approvals[0])?.callId)
  }
  if (!conversation || !last || (!answers && !isCutShort(last))) {
    const what = 'There is no interrupted or failed turn to go on with: send a "message".'
    throw new AppError('nothing_to_continue', what)
  }
  toAnswers(await chats.lastCalls(conversation.id), given)
  const turn = await chats.resumeTurn(last.id, settings, given.recording)
  if (!turn) throw inProgress(conversation.id)

  try {
    // Somebody else may have answered some of them in between.
    const calls = (await chats.lastCalls(conversation.id)).filter(
      ({ turnId }) => turnId === turn.id,
    )
    const { answered, denied, approved, waiting } = toAnswers(calls, given)
    const interrupted = calls.filter(({ kind, result }) => kind === 'tool' && result === null)
    const runs = approved.length + interrupted.length > 0
    const waits = waiting.size > 0 && !runs
    const receipt = { ...turn.receipt, denied: [...turn.receipt.denied, ...denied] }
    const done = answered.length > 0 && waiting.size === 0 && !runs
    const message = done ? toolMessage(calls, answered) : undefined
    const state = { ...turn, receipt, ...(waits && waitingEnd(waiting.values())) }
    await chats.saveResults(turn.id, answered, message, state, { started: approved })
    const standing = await stateOf(chats, { ...conversation, settings }, { ...turn, receipt })
    const find = callsIn(standing.messages)
    const unanswered: UnansweredCall[] = [
      ...approved.flatMap((id) => find(id, 'approved')),
      ...interrupted.flatMap(({ callId }) => find(callId, 'interrupted')),
    ]
    return { ...standing, unanswered, waiting }
  } catch (error) {
    await saveEnd(chats, turn.id, last)
    throw error
  }
}

const isCutShort = ({ status }: Turn) => status === 'interrupted' || status === 'failed'

/** The given answers as results; throws when one is for a call that does not wait for it. */
function toAnswers(calls: readonly Call<ToolResult>[], { results, approvals }: Continuation) {
  const waiting = new Map<string, WaitingKind>()
  for (const { callId, kind, result } of calls) {
    if (result === null && kind !== 'tool') waiting.set(callId, kind)
  }
  const answered: Answered<ToolResult>[] = []
  const denied: Denied[] = []
  const approved: string[] = []
  for (const { callId, output, isError } of results) {
    const call = take(callId, 'client')
    answered.push({ callId, result: toResult(named(call), output, isError) })
  }
  for (const { callId, decision, reason } of approvals) {
    const call = take(callId, 'approval')
    if (decision === 'approve') approved.push(callId)
    else {
      const why = reason === null ? '' : ` ${reason}`
      const text = `The call was not approved, and did not run.${why}`
      answered.push({ callId, result: toResult(named(call), text, true) })
      denied.push({ tool: call.name, skill: null, by: 'caller', step: call.step })
    }
  }
  return { answered, denied, approved, waiting }

  function take(callId: string, kind: WaitingKind): Call<ToolResult> {
    const call = calls.find((candidate) => candidate.callId === callId)
    if (!call || waiting.get(callId) === undefined) throw notPending(callId)
    if (waiting.get(callId) !== kind) {
      const wants = kind === 'client' ? 'an approval' : 'a result of yours'
      const where = kind === 'client' ? '"approvals"' : '"tool_results"'
      const what = `The call "${callId.slice(0, 64)}" waits for ${wants}: answer it in ${where}.`
      throw new AppError('call_not_pending', what)
    }
    waiting.delete(callId)
    return call
  }
}

const named = ({ callId, name }: Call<ToolResult>) => ({ toolCallId: callId, toolName: name })

/** Finds calls in the newest message of the assistant. */
function callsIn(messages: readonly Message[]) {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const calls = new Map<string, ToolCall>()
  for (const part of last?.role === 'assistant' ? last.content : []) {
    if (part.type === 'tool-call') calls.set(part.toolCallId, part)
  }
  return (callId: string, because: UnansweredCall['because']): UnansweredCall[] => {
    const call = calls.get(callId)
    return call ? [{ call, because }] : []
  }
}

const notPending = (callId = '') =>
  new AppError(
    'call_not_pending',
    `No call "${callId.slice(0, 64)}" waits for an answer in this conversation.`,
  )
