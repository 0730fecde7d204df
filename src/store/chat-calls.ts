import type { Transaction } from 'kysely'
import { AppError } from '../errors.ts'
import { FORMAT } from './chat-rows.ts'
import type { Place } from './chat-steps.ts'
import type { Answered, Call } from './chats.ts'
import { chunks } from './chunks.ts'
import type { Tables } from './tables.ts'

export async function insertCalls<Result>(
  trx: Transaction<Tables>,
  { conversation, turn, step }: Place & { step: number },
  calls: Omit<Call<Result>, 'turnId' | 'step'>[],
): Promise<void> {
  for (const chunk of chunks(calls)) {
    const rows = chunk.map(({ callId, name, kind, result }) => ({
      conversation,
      turn,
      step,
      call_id: callId,
      name: JSON.stringify(name),
      kind,
      format: FORMAT,
      result: result === null ? null : JSON.stringify(result),
    }))
    await trx.insertInto('tool_calls').values(rows).execute()
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

export async function answerCall<Result>(
  trx: Transaction<Tables>,
  { conversation }: Place,
  { callId, result, output }: Answered<Result>,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('tool_calls')
    .set({
      result: JSON.stringify(result),
      output: output === undefined ? null : JSON.stringify(output),
      format: FORMAT,
    })
    .where('conversation', '=', conversation)
    .where('call_id', '=', callId)
    .where('result', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notPending(callId)
}

const notPending = (callId: string) =>
  new AppError('call_not_pending', `No call ${callId} is waiting for a result.`)
