import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { type OpenParts, openTurn } from '../agent/open-turn.ts'
import { type RunParts, runTurn } from '../agent/run-turn.ts'
import type { RunningTurns } from '../agent/running-turns.ts'
import { ChatBody, readChatBody } from '../http/chat-request.ts'
import { goneSignal } from '../http/gone.ts'
import { idempotencyHeader, replay } from '../http/idempotency.ts'
import { problemResponses } from '../http/problem.ts'
import { sendEvents } from '../http/sse.ts'
import { present, presentKept } from '../http/turn-events.ts'
import { onceTurn } from '../http/turn-idempotency.ts'
import { TurnResource, toTurnResource } from '../http/turn-resource.ts'
import type { IdempotencyStore } from '../store/idempotency.ts'

const chat = {
  operationId: 'chat',
  summary: 'Run a turn of the agent',
  tags: ['chat'],
  headers: Type.Object(idempotencyHeader),
  body: { ...ChatBody, examples: [{ message: 'Review auth.py' }] },
  response: {
    200: {
      description: 'The turn, or its events while it runs',
      content: {
        'application/json': { schema: TurnResource },
        'text/event-stream': { schema: Type.String() },
      },
    },
    ...problemResponses,
  },
}

interface Options extends OpenParts, RunParts {
  skills: RunParts['skills']
  registry: RunParts['registry']
  running: RunningTurns
  idempotency: IdempotencyStore
  stallMs?: number | undefined
}

export const chatRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { running, stallMs, idempotency, ...parts } = options
  const config = { scope: 'chat' } as const

  app.post('/chat', { schema: chat, config }, async (request, reply) => {
    const { body, headers, key } = request
    const asked = readChatBody(body)
    const streams = body.stream ?? /\btext\/event-stream\b/.test(headers.accept ?? '')
    const once = await onceTurn(idempotency, parts.chats, request)
    if (once.before) {
      const kept = once.before
      if (!streams || kept.status !== 200) return replay(reply, kept)
      return await sendEvents(
        reply.header('idempotent-replayed', 'true'),
        presentKept(kept),
        stallMs,
      )
    }

    const turn = running.enter()
    const signal = AbortSignal.any([goneSignal(reply), turn.controller.signal])
    try {
      const open = await openTurn(parts, {
        ...asked,
        owner: key?.id ?? null,
        dayBudget: key?.budget ?? null,
        seesAll: key?.scopes.includes('admin') ?? true,
        recording: once.recording,
      })
      turn.conversationId = open.conversation.id
      const events = once.keep(runTurn(parts, open, signal))
      if (streams) return await sendEvents(reply, present(events), stallMs)
      for await (const event of events) {
        if (event.type === 'turn.finished') return toTurnResource(event.view)
      }
      throw new Error('The turn ended without an end.')
    } finally {
      turn.leave()
    }
  })
}
