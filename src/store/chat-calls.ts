import type { Insertable, Transaction } from 'kysely'
import { AppError } from '../errors.ts'
import { FORMAT } from './chat-rows.ts'
import type { Place } from './chat-steps.ts'
import type { CallTable } from './chat-tables.ts'
import type { Answered, StepRecord } from './chats.ts'
import { prepared } from './prepared.ts'
import type { Tables } from './tables.ts'

const insertCall = prepared<Insertable<CallTable>, unknown>((db, parameter) =>
  db.insertInto('tool_calls').values({
    conversation: parameter('conversation'),
    turn: parameter('turn'),
    step: parameter('step'),
    call_id: parameter('call_id'),
    name: parameter('name'),
    kind: parameter('kind'),
    format: parameter('format'),
    result: parameter('result'),
    output: parameter('output'),
  }),
)

export async function insertCalls<Result>(
  trx: Transaction<Tables>,
  { conversation, turn, step }: Place & { step: number },
  calls: StepRecord<unknown, Result>['calls'],
): Promise<void> {
  for (const { callId, name, kind, result, output } of calls) {
    await insertCall(trx, {
      conversation,
      turn,
      step,
      call_id: callId,
      name: JSON.stringify(name),
      kind,
      format: FORMAT,
      result: result === null ? null : JSON.stringify(result),
      output: output === undefined ? null : JSON.stringify(output),
    })
  }
}

/** An approved call runs from now on, as one that needed no approval does. */
export async function startCall(
  trx: Transaction<Tables>,
  { conversation }: Place,
  callId: string,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('tool_calls')
    .set({ kind: 'tool' })
    .where('conversation', '=', conversation)
    .where('call_id', '=', callId)
    .where('kind', '=', 'approval')
    .where('result', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notPending(callId)
}

interface NewResult {
  conversation: number
  callId: string
  result: string
  output: string | null
}

const setResult = prepared<NewResult, unknown>((db, parameter) =>
  db
    .updateTable('tool_calls')
    .set({ result: parameter('result'), output: parameter('output'), format: FORMAT })
    .where('conversation', '=', parameter('conversation'))
    .where('call_id', '=', parameter('callId'))
    .where('result', 'is', null),
)

export async function answerCall<Result>(
  trx: Transaction<Tables>,
  { conversation }: Place,
  { callId, result, output }: Answered<Result>,
): Promise<void> {
  const { numAffectedRows } = await setResult(trx, {
    conversation,
    callId,
    result: JSON.stringify(result),
    output: output === undefined ? null : JSON.stringify(output),
  })
  if (numAffectedRows === 0n) throw notPending(callId)
}

const notPending = (callId: string) =>
  new AppError('call_not_pending', `No call ${callId} is waiting for a result.`)
