import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type OpenParts, openTurn } from '../../agent/open-turn.ts'
import type { OpenTurn } from '../../agent/opened-turn.ts'
import { type RunParts, runTurn } from '../../agent/run-turn.ts'
import type { RunningTurns } from '../../agent/running-turns.ts'
import { AppError } from '../../errors.ts'
import { goneSignal } from '../../http/gone.ts'
import { toProblem } from '../../http/problem.ts'
import { onceTurn } from '../../http/turn-idempotency.ts'
import type { IdempotencyStore } from '../../store/idempotency.ts'
import { toOpenaiFailure } from '../failure.ts'
import { speakAs } from '../family.ts'
import { type CompletionBody, CompletionBody as Schema } from './body.ts'
import { endingOfView, newHead, speak, toChunks, toCompletion } from './completion.ts'
import { withOwnCalls } from './own-calls.ts'
import { readRequest, readToolChoice } from './read-request.ts'
import { modelNotFound, refuse } from './refusal.ts'
import { readKept, replayed } from './replay.ts'
import { sendChunks } from './send-chunks.ts'

interface Options extends OpenParts, RunParts {
  skills: RunParts['skills']
  registry: RunParts['registry']
  running: RunningTurns
  idempotency: IdempotencyStore
  stallMs?: number | undefined
}

/** Chat completions of OpenAI: the model is an agent, whose loop is out of sight. */
export const completionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { running, stallMs, idempotency, ...parts } = options
  const config = { scope: 'chat' } as const
  speakAs(app, 'openai')

  const schema = { hide: true, body: Schema }
  app.post('/chat/completions', { schema, config }, async (request, reply) => {
    const { body, key } = request
    const owner = key?.id ?? null
    const head = newHead(body.model)
    const once = await onceTurn(idempotency, parts.chats, request)
    if (once.before) {
      const kept = readKept(once.before)
      reply.headers({ 'idempotent-replayed': 'true', ...namesOf(kept.conversation_id, kept.id) })
      return await answer(replayed(kept), request, reply)
    }

    const models = withOwnCalls(parts.models, readToolChoice(body))
    const turn = running.enter()
    const signal = AbortSignal.any([goneSignal(reply), turn.controller.signal])
    let toolRan = false
    try {
      const asked = await readRequest(parts.chats, body, owner)
      const open = await openTurn(
        { ...parts, models },
        {
          ...asked,
          owner,
          dayBudget: key?.budget ?? null,
          seesAll: key?.scopes.includes('admin') ?? true,
          recording: once.recording,
        },
      ).catch((error) => {
        throw inTheirWords(error, body)
      })
      turn.conversationId = open.conversation.id
      reply.headers(namesOf(open.conversation.id, open.turn.id))
      const events = once.keep(runTurn({ ...parts, models }, open, signal))
      const onToolRun = () => {
        toolRan = true
      }
      return await answer(ended(open, speak(events, onToolRun)), request, reply)
    } catch (error) {
      // What a tool has done is not to be done again by a client that tries once more.
      if (toolRan) reply.header('x-should-retry', 'false')
      throw error
    } finally {
      turn.leave()
    }

    async function answer(
      spoken: ReturnType<typeof ended>,
      request: FastifyRequest,
      reply: FastifyReply,
    ) {
      if (body.stream === true) {
        const withUsage = body.stream_options?.include_usage === true
        const chunks = toChunks(head, spoken, withUsage)
        return await sendChunks(reply, chunks, (error) => inStream(error, request), stallMs)
      }
      let text = ''
      let next = await spoken.next()
      for (; !next.done; next = await spoken.next()) text += next.value
      return toCompletion(head, text, next.value)
    }
  })
}

const namesOf = (conversationId: string, turnId: string) => ({
  'x-conversation-id': conversationId,
  'x-turn-id': turnId,
})

async function* ended({ turn }: OpenTurn, spoken: ReturnType<typeof speak>) {
  return endingOfView(yield* spoken, turn.usage)
}

function inStream(error: unknown, request: FastifyRequest) {
  const problem = toProblem(error, request)
  if (problem.status >= 500) request.log.error({ err: error }, 'stream failed')
  return toOpenaiFailure(problem)
}

/** Agents are models here, and a tool of the caller that is named like ours is another error. */
function inTheirWords(error: unknown, { model, tools }: CompletionBody): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'agent_not_found') return modelNotFound(model)
  if (error.code === 'tool_name_taken') {
    const at = tools?.findIndex(({ function: { name } }) => error.message.includes(`"${name}"`))
    return refuse('tool_name_conflict', `/tools/${at}/function/name`, error.message)
  }
  return error
}
