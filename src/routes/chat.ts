import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { type OpenParts, openTurn } from '../agent/open-turn.ts'
import { type RunParts, runTurn } from '../agent/run-turn.ts'
import type { RunningTurns } from '../agent/running-turns.ts'
import { AppError } from '../errors.ts'
import { ChatBody, readChatBody } from '../http/chat-request.ts'
import { goneSignal } from '../http/gone.ts'
import { problemResponses } from '../http/problem.ts'
import { sendEvents } from '../http/sse.ts'
import { present } from '../http/turn-events.ts'
import { TurnResource, toTurnResource } from '../http/turn-resource.ts'

const chat = {
  operationId: 'chat',
  summary: 'Run a turn of the agent',
  tags: ['chat'],
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
  running: RunningTurns
  stallMs?: number | undefined
}

export const chatRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { running, stallMs, ...parts } = options
  const config = { scope: 'chat' } as const

  app.post('/chat', { schema: chat, config }, async (request, reply) => {
    const { body, headers, key } = request
    const asked = readChatBody(body)
    if (asked.agent !== 'default') {
      const name = asked.agent.slice(0, 64)
      throw new AppError(
        'agent_not_found',
        `There is no agent "${name}": the only one is "default".`,
      )
    }
    const seesAll = key?.scopes.includes('admin') ?? true

    const turn = running.enter()
    const signal = AbortSignal.any([goneSignal(reply), turn.controller.signal])
    try {
      const open = await openTurn(parts, { ...asked, owner: key?.id ?? null, seesAll })
      turn.conversationId = open.conversation.id
      const events = runTurn(parts, open, signal)
      if (body.stream ?? /\btext\/event-stream\b/.test(headers.accept ?? '')) {
        return await sendEvents(reply, present(events), stallMs)
      }
      for await (const event of events) {
        if (event.type === 'turn.finished') return toTurnResource(event.view)
      }
      throw new Error('The turn ended without an end.')
    } finally {
      turn.leave()
    }
  })
}
