import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { isErrorResult, textOf } from '../agent/answer-call.ts'
import type { Chats } from '../agent/chats.ts'
import { viewStored } from '../agent/turn-view.ts'
import { AppError } from '../errors.ts'
import { findConversation } from '../http/conversation-access.ts'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import { OfferedSkill, PromptResource, toOffered, toPrompt } from '../http/prompt-resource.ts'
import { TurnResource, toTurnResource } from '../http/turn-resource.ts'
import { Strict } from '../schema.ts'

const OfConversation = Type.Object({ id: Type.String() })
const OfTurn = Type.Object({ id: Type.String(), turn: Type.String() })

const list = {
  operationId: 'listTurns',
  summary: 'List the turns of a conversation, oldest first',
  tags: ['chat'],
  params: OfConversation,
  querystring: Strict(pageQuery),
  response: { 200: Page(TurnResource), ...problemResponses },
}
const get = {
  operationId: 'getTurn',
  summary: 'Read a turn, with every skill that was on offer',
  tags: ['chat'],
  params: OfTurn,
  response: {
    200: Type.Object({
      ...TurnResource.properties,
      offered: Type.Array(OfferedSkill, { description: 'At the last model call' }),
    }),
    ...problemResponses,
  },
}
const prompt = {
  operationId: 'getPrompt',
  summary: 'Read exactly what the model was sent, call by call',
  tags: ['chat'],
  params: OfTurn,
  response: { 200: PromptResource, ...problemResponses },
}
const toolResult = {
  operationId: 'getToolResult',
  summary: 'Read the whole output of a tool call',
  tags: ['chat'],
  params: Type.Object({ id: Type.String(), call_id: Type.String() }),
  querystring: Strict({
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'In characters' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 50_000 })),
  }),
  response: {
    200: Type.Object({
      call_id: Type.String(),
      name: Type.String(),
      output: Type.String(),
      is_error: Type.Boolean(),
      offset: Type.Integer(),
      total: Type.Integer({ description: 'Characters of the whole output' }),
    }),
    ...problemResponses,
  },
}

interface Options {
  chats: Chats
}

/** What is kept of each turn: the receipt, the prompts, the outputs of its tools. */
export const turnRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { chats }) => {
  const config = { scope: 'chat' } as const

  app.get('/conversations/:id/turns', { schema: list, config }, async (request) => {
    const { limit = DEFAULT_LIMIT, cursor } = request.query
    const { id } = await findConversation(chats, request, request.params.id)
    const after = readCursor('turns', cursor, /^turn_[a-z0-9]+$/)
    const found = await chats.turns(id, { ...(after !== undefined && { after }), limit: limit + 1 })
    const page = toPage('turns', found, limit, (turn) => turn.id)
    const views = await viewStored(chats, id, page.data)
    return { ...page, data: views.map(toTurnResource) }
  })

  app.get('/conversations/:id/turns/:turn', { schema: get, config }, async (request) => {
    const { id } = await findConversation(chats, request, request.params.id)
    const turn = await findTurn(id, request.params.turn)
    const [view = { turn, messages: [], pending: [] }] = await viewStored(chats, id, [turn])
    const steps = await chats.steps(turn.id)
    return { ...toTurnResource(view), offered: toOffered(steps.at(-1)) }
  })

  app.get('/conversations/:id/turns/:turn/prompt', { schema: prompt, config }, async (request) => {
    const { id } = await findConversation(chats, request, request.params.id)
    const turn = await findTurn(id, request.params.turn)
    return toPrompt(turn.id, await chats.steps(turn.id))
  })

  app.get(
    '/conversations/:id/tool-results/:call_id',
    { schema: toolResult, config },
    async (request) => {
      const { id } = await findConversation(chats, request, request.params.id)
      const { call_id } = request.params
      const { offset = 0, limit = 50_000 } = request.query
      const call = await chats.findCall(id, call_id)
      if (!call?.result) {
        throw new AppError(
          'tool_result_not_found',
          `There is no result of a call "${call_id.slice(0, 64)}".`,
        )
      }
      const characters = [...(call.output ?? textOf(call.result))]
      return {
        call_id,
        name: call.name,
        output: characters.slice(offset, offset + limit).join(''),
        is_error: isErrorResult(call.result),
        offset,
        total: characters.length,
      }
    },
  )

  async function findTurn(id: string, turnId: string) {
    const turn = await chats.findTurn(id, turnId)
    if (turn) return turn
    throw new AppError('turn_not_found', `The conversation has no turn "${turnId.slice(0, 64)}".`)
  }
}
