import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import type { TurnState } from '../store/chats.ts'
import type { Chats } from './chats.ts'

const WAITS_MS = [100, 400, 1600]

/** Stores how a turn ended, patiently: one that is left running keeps its conversation closed. */
export async function saveEnd(chats: Chats, turnId: string, state: TurnState): Promise<void> {
  for (const wait of WAITS_MS) {
    try {
      return await chats.saveState(turnId, state)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'storage_busy') throw error
    }
    await sleep(wait)
  }
  await chats.saveState(turnId, state)
}

/** Of what is no AppError, nothing is told. */
export const toAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : new AppError('internal', '', { cause: error })

export function failureOf(error: unknown) {
  const { code, message: detail } = toAppError(error)
  return { status: 'failed', stopReason: 'error', error: { code, detail } } as const
}
