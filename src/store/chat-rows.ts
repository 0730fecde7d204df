import type { Selectable } from 'kysely'
import type { CallTable, ConversationTable, TurnTable } from './chat-tables.ts'
import type { Call, Conversation, Turn, TurnState } from './chats.ts'
import { toId } from './ids.ts'
import type { Parameters } from './prepared.ts'

/** Of the JSON in messages and results: raised when what it means changes. */
export const FORMAT = 1

export const toConversation = <Settings>(
  row: Selectable<ConversationTable>,
): Conversation<Settings> => ({
  id: toId('conv', row.seq),
  agent: row.agent,
  owner: row.owner,
  settings: JSON.parse(row.settings),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const toTurn = (row: Selectable<TurnTable>): Turn => ({
  id: toId('turn', row.seq),
  conversationId: toId('conv', row.conversation),
  status: row.status,
  stopReason: row.stop_reason,
  steps: row.steps,
  usage: JSON.parse(row.usage),
  receipt: JSON.parse(row.receipt),
  error: row.error === null ? null : JSON.parse(row.error),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const turnColumns = ({ status, stopReason, steps, usage, receipt, error }: TurnState) => ({
  status,
  stop_reason: stopReason,
  steps,
  usage: JSON.stringify(usage),
  receipt: JSON.stringify(receipt),
  error: error && JSON.stringify(error),
})

/** The places of these columns in a prepared query. */
export const turnParameters = (parameter: Parameters<ReturnType<typeof turnColumns>>) => ({
  status: parameter('status'),
  stop_reason: parameter('stop_reason'),
  steps: parameter('steps'),
  usage: parameter('usage'),
  receipt: parameter('receipt'),
  error: parameter('error'),
})

type CallRow = Pick<Selectable<CallTable>, 'call_id' | 'turn' | 'step' | 'name' | 'kind' | 'result'>

export const toCall = <Result>(row: CallRow): Call<Result> => ({
  callId: row.call_id,
  turnId: toId('turn', row.turn),
  step: row.step,
  name: JSON.parse(row.name),
  kind: row.kind,
  result: row.result === null ? null : JSON.parse(row.result),
})
