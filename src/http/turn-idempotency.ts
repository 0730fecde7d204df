import type { FastifyRequest } from 'fastify'
import type { Chats } from '../agent/chats.ts'
import type { TurnEvent } from '../agent/run-turn.ts'
import { viewStored } from '../agent/turn-view.ts'
import type { TurnRecording } from '../store/chats.ts'
import type { Answer, IdempotencyStore } from '../store/idempotency.ts'
import { fingerprintOf, inFlight, jsonAnswer, mismatch, readKey } from './idempotency.ts'
import { toProblem } from './problem.ts'
import { toTurnResource } from './turn-resource.ts'

/** What an `Idempotency-Key` means for a request that runs a turn. */
export interface OnceTurn {
  /** To be stored together with the beginning of the turn; undefined without a key. */
  recording: TurnRecording | undefined
  /** How the first turn with this key ended, when there was one. */
  before: Answer | undefined
  /** Keeps how a turn ends, be it well or badly. */
  keep(events: AsyncIterable<TurnEvent>): AsyncIterable<TurnEvent>
}

/**
 * A turn takes long and is stored in many steps: the key is recorded with its beginning and the
 * answer with its end. Where the process died in between, the turn as it is stored is the answer.
 * Throws `idempotency_in_flight` while it runs.
 */
export async function onceTurn(
  store: IdempotencyStore,
  chats: Pick<Chats, 'findTurn' | 'messages' | 'lastCalls'>,
  request: FastifyRequest,
): Promise<OnceTurn> {
  const key = readKey(request)
  if (!key) return { recording: undefined, before: undefined, keep: (events) => events }
  const fingerprint = fingerprintOf(request)
  const stored = await store.find(key)
  if (stored && stored.fingerprint !== fingerprint) throw mismatch()
  const before = stored && (stored.answer ?? (await answerOf(stored.turn)))

  return {
    recording: { ...key, fingerprint },
    before,
    async *keep(events) {
      try {
        for await (const event of events) {
          if (event.type === 'turn.finished') {
            await store.finish(key, jsonAnswer(200, toTurnResource(event.view)))
          }
          yield event
        }
      } catch (error) {
        const problem = toProblem(error, request)
        const headers = { 'content-type': 'application/problem+json; charset=utf-8' }
        const body = JSON.stringify(problem)
        await store.finish(key, { status: problem.status, headers, body })
        throw error
      }
    },
  }

  async function answerOf(place: { id: string; conversationId: string } | null) {
    const turn = place && (await chats.findTurn(place.conversationId, place.id))
    if (!turn || turn.status === 'running') throw inFlight()
    const [view] = await viewStored(chats, turn.conversationId, [turn])
    if (!view) throw inFlight()
    return jsonAnswer(200, toTurnResource(view))
  }
}
