import { type Static, Type } from 'typebox'
import type { TurnView } from '../agent/turn-view.ts'
import type { Receipt } from '../domain/receipt.ts'
import type { Usage } from '../store/chats.ts'
import { MessageResource, toMessageResource } from './message-resource.ts'

export const UsageResource = Type.Object({
  model_calls: Type.Integer(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cache_read_tokens: Type.Integer(),
  cache_write_tokens: Type.Integer(),
})

const LoadedResource = Type.Object({
  name: Type.String(),
  version: Type.Integer(),
  digest: Type.String(),
  tokens: Type.Integer(),
  step: Type.Integer({ description: '0 for a preload' }),
  repeat: Type.Boolean({ description: 'The body was in the context already' }),
})

const ReceiptResource = Type.Object({
  catalog: Type.Object({
    revision: Type.Integer(),
    tokens: Type.Integer(),
    offered: Type.Integer(),
    shortened: Type.Integer(),
    omitted: Type.Integer(),
  }),
  loaded: Type.Array(LoadedResource),
  denied: Type.Array(
    Type.Object({
      tool: Type.String(),
      skill: Type.Union([Type.String(), Type.Null()], {
        description: 'The loaded skill whose allowed-tools refused the call',
      }),
      by: Type.Enum(['skill', 'rule', 'hook', 'caller'], { description: 'What refused it' }),
      step: Type.Integer(),
    }),
  ),
  tokens: Type.Object({
    catalog: Type.Integer(),
    skills: Type.Integer({ description: 'Of the bodies that were loaded' }),
    all_inlined: Type.Integer({ description: 'What all bodies on offer would have cost' }),
  }),
})

export type TurnResource = Static<typeof TurnResource>
export const TurnResource = Type.Object({
  id: Type.String(),
  conversation_id: Type.String(),
  status: Type.Enum([
    'running',
    'completed',
    'requires_action',
    'incomplete',
    'failed',
    'interrupted',
  ]),
  stop_reason: Type.Union([
    Type.Enum([
      'answered',
      'tool_calls',
      'approval',
      'max_steps',
      'budget',
      'max_tokens',
      'error',
      'cancelled',
    ]),
    Type.Null(),
  ]),
  output: Type.String({ description: 'The text of the last assistant message' }),
  messages: Type.Array(MessageResource, { description: 'What the turn added' }),
  pending: Type.Array(
    Type.Object({
      call_id: Type.String(),
      name: Type.String(),
      input: Type.Unknown(),
      kind: Type.Enum(['client', 'approval']),
    }),
    { description: 'Calls that wait for the caller' },
  ),
  steps: Type.Integer(),
  usage: UsageResource,
  receipt: ReceiptResource,
  error: Type.Union([Type.Object({ code: Type.String(), detail: Type.String() }), Type.Null()]),
  created_at: Type.String({ format: 'date-time' }),
})

/** The one place where a turn gets its names on the wire. */
export function toTurnResource({ turn, messages, pending }: TurnView): TurnResource {
  return {
    id: turn.id,
    conversation_id: turn.conversationId,
    status: turn.status,
    stop_reason: turn.stopReason,
    output: outputOf(messages),
    messages: messages.map(toMessageResource),
    pending: pending.map(({ callId, ...call }) => ({ call_id: callId, ...call })),
    steps: turn.steps,
    usage: toUsage(turn.usage),
    receipt: toReceipt(turn.receipt),
    error: turn.error,
    created_at: turn.createdAt,
  }
}

function outputOf(messages: TurnView['messages']): string {
  const last = messages.findLast(({ role }) => role === 'assistant')
  if (last?.role !== 'assistant') return ''
  return last.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

export const toUsage = (usage: Usage): Static<typeof UsageResource> => ({
  model_calls: usage.modelCalls,
  ...toStepUsage(usage),
})

export const toStepUsage = (usage: Omit<Usage, 'modelCalls'>) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cache_read_tokens: usage.cacheReadTokens,
  cache_write_tokens: usage.cacheWriteTokens,
})

const toReceipt = ({ tokens, ...receipt }: Receipt): Static<typeof ReceiptResource> => ({
  ...receipt,
  tokens: { catalog: tokens.catalog, skills: tokens.skills, all_inlined: tokens.allInlined },
})
