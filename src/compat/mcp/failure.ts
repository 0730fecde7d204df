import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyBaseLogger } from 'fastify'
import { AppError } from '../../errors.ts'

/**
 * Runs what answers a message. What it throws is told as an error of the protocol; of a bug nothing
 * is told.
 */
export async function telling<Result>(
  log: Pick<FastifyBaseLogger, 'error'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof AppError && error.status < 500) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { code: error.code })
    }
    log.error({ err: error }, 'message failed')
    const known = error instanceof AppError && error.code !== 'internal'
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      known ? error.message : 'Internal error',
      known ? { code: error.code } : undefined,
    )
  }
}
