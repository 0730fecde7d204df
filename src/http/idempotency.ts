import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import { AppError } from '../errors.ts'
import type { Answer, IdempotencyKey, IdempotencyStore, Recording } from '../store/idempotency.ts'
import { toProblem } from './problem.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const SWEEP_MS = 10 * 60 * 1000

/** Runs a write, and hands it what has to be stored together with its effect. */
export type Write<Outcome> = (recording: Recording<Outcome> | undefined) => Promise<Outcome>

/** Gives the first outcome of an `Idempotency-Key` again, for 24 hours (api.md 0). */
export interface Idempotency {
  /** Answers with `toAnswer(outcome)`, or as the first time; refusals are kept too. */
  run<Outcome>(
    request: FastifyRequest,
    reply: FastifyReply,
    write: Write<Outcome>,
    toAnswer: (outcome: Outcome) => Answer,
    /** How a refusal is told where it is no problem. */
    toRefusal?: ToRefusal,
  ): Promise<FastifyReply>
}

type ToRefusal = (error: unknown, request: FastifyRequest) => Answer

export function createIdempotency(store: IdempotencyStore): Idempotency {
  const running = new Set<string>()
  let swept = 0

  return {
    async run(request, reply, write, toAnswer, toRefusal = problemAnswer) {
      const key = readKey(request)
      if (!key) return send(reply, toAnswer(await write(undefined)))

      await sweep()
      const place = JSON.stringify([key.owner, key.key])
      if (running.has(place)) {
        throw inFlight()
      }
      running.add(place)
      try {
        return await once(key, request, reply, write, toAnswer, toRefusal)
      } finally {
        running.delete(place)
      }
    },
  }

  async function once<Outcome>(
    key: IdempotencyKey,
    request: FastifyRequest,
    reply: FastifyReply,
    write: Write<Outcome>,
    toAnswer: (outcome: Outcome) => Answer,
    toRefusal: ToRefusal,
  ): Promise<FastifyReply> {
    const fingerprint = fingerprintOf(request)
    const before = await store.find(key)
    if (before && before.fingerprint !== fingerprint) throw mismatch()
    if (before) return replay(reply, before.answer)
    let recorded = false
    const record = (outcome: Outcome): Answer => {
      recorded = true
      return toAnswer(outcome)
    }
    try {
      const answer = toAnswer(await write({ ...key, fingerprint, answer: record }))
      // A write of many steps has no transaction that the record could share.
      if (!recorded) await store.save({ ...key, fingerprint }, answer)
      return send(reply, answer)
    } catch (error) {
      const { status, code } = toProblem(error, request)
      if (status >= 500 || code === 'idempotency_in_flight') throw error
      const answer = toRefusal(error, request)
      await store.save({ ...key, fingerprint }, answer)
      return send(reply, answer)
    }
  }

  async function sweep(): Promise<void> {
    if (Date.now() - swept < SWEEP_MS) return
    swept = Date.now()
    await store.sweep(new Date(swept - DAY_MS).toISOString())
  }
}

function problemAnswer(error: unknown, request: FastifyRequest): Answer {
  const problem = toProblem(error, request)
  const headers = { 'content-type': 'application/problem+json; charset=utf-8' }
  return { status: problem.status, headers, body: JSON.stringify(problem) }
}

export const inFlight = () =>
  new AppError('idempotency_in_flight', 'The first request with this key is still running.', {
    retryAfter: 1,
  })

export const mismatch = () =>
  new AppError('idempotency_mismatch', 'The key was sent before, with another request.')

/** For the description of a write. */
export const idempotencyHeader = {
  'idempotency-key': Type.Optional(
    Type.String({
      description: '1 to 255 visible ASCII characters: the same one again gets the first answer',
    }),
  ),
}

/** Refuses a malformed key wherever one may be sent, also where nothing is written. */
export const idempotencyKeys = fp(async (app) => {
  app.addHook('preValidation', async (request) => {
    if (WITH_KEY.has(request.method)) readKey(request)
  })
})

const WITH_KEY = new Set(['POST', 'PUT', 'PATCH'])

export function readKey({ headers, key }: FastifyRequest): IdempotencyKey | undefined {
  const sent = headers['idempotency-key']
  if (sent === undefined) return undefined
  if (typeof sent === 'string' && /^[\x21-\x7e]{1,255}$/.test(sent)) {
    return { owner: key?.id ?? 'anyone', key: sent }
  }
  throw new AppError('header_invalid', 'An Idempotency-Key is 1 to 255 visible ASCII characters.')
}

export function fingerprintOf({ method, url, headers, body }: FastifyRequest): string {
  const hash = createHash('sha256')
  const { 'content-type': type, 'if-match': match, 'if-none-match': noneMatch } = headers
  // The boundary of a form is another one each time.
  const essence = type?.replace(/;\s*boundary=.*$/i, '')
  hash.update(JSON.stringify([method, url, essence, match, noneMatch]))
  hash.update(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? null))
  return hash.digest('hex')
}

export const replay = (reply: FastifyReply, answer: Answer | null): FastifyReply => {
  if (!answer) throw inFlight()
  return send(reply.header('idempotent-replayed', 'true'), answer)
}

const send = (reply: FastifyReply, { status, headers, body }: Answer): FastifyReply =>
  reply.code(status).headers(headers).send(body)

/** An answer with a JSON body, as it is kept. */
export const jsonAnswer = (
  status: number,
  body: object,
  headers: Record<string, string> = {},
): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
