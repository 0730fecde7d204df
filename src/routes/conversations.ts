import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Chats } from '../agent/chats.ts'
import { applyCompaction, NO_COMPACTION } from '../agent/compaction/compaction.ts'
import type { RunningTurns } from '../agent/running-turns.ts'
import type { Workspace } from '../agent/workspace/open-workspace.ts'
import { findConversation, ownerOf } from '../http/conversation-access.ts'
import {
  ConversationResource,
  ConversationSummary,
  toConversationResource,
  toConversationSummary,
} from '../http/conversation-resource.ts'
import { DEFAULT_LIMIT, Page, pageQuery, readCursor, toPage } from '../http/page.ts'
import { problemResponses } from '../http/problem.ts'
import { Strict } from '../schema.ts'

const Params = Type.Object({ id: Type.String() })

const list = {
  operationId: 'listConversations',
  summary: 'List conversations, newest first',
  tags: ['chat'],
  querystring: Strict(pageQuery),
  response: { 200: Page(ConversationSummary), ...problemResponses },
}
const get = {
  operationId: 'getConversation',
  summary: 'Read a conversation',
  tags: ['chat'],
  params: Params,
  response: { 200: ConversationResource, ...problemResponses },
}
const remove = {
  operationId: 'deleteConversation',
  summary: 'Delete a conversation with its turns',
  tags: ['chat'],
  params: Params,
  response: { 204: Type.Null({ description: 'Deleted' }), ...problemResponses },
}
const cancel = {
  operationId: 'cancelTurn',
  summary: 'End the turn that runs',
  tags: ['chat'],
  params: Params,
  response: {
    200: Type.Object({ cancelled: Type.Boolean({ description: 'Whether a turn was running' }) }),
    ...problemResponses,
  },
}
interface Options {
  chats: Chats
  running: RunningTurns
  workspace: Pick<Workspace, 'removeFolder'> | undefined
}

export const conversationRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { chats, running, workspace } = options
  const config = { scope: 'chat' } as const

  app.get('/conversations', { schema: list, config }, async (request) => {
    const { limit = DEFAULT_LIMIT, cursor } = request.query
    const before = readCursor('conversations', cursor, /^conv_[a-z0-9]+$/)
    const place = before === undefined ? {} : { before }
    const found = await chats.list(ownerOf(request), { ...place, limit: limit + 1 })
    const page = toPage('conversations', found, limit, ({ id }) => id)
    return { ...page, data: page.data.map(toConversationSummary) }
  })

  app.get('/conversations/:id', { schema: get, config }, async (request) => {
    const conversation = await findConversation(chats, request, request.params.id)
    const messages = await chats.messages(conversation.id)
    const shown = applyCompaction(
      messages.map(({ message }) => message),
      (await chats.compaction(conversation.id)) ?? NO_COMPACTION,
    )
    const usage = await chats.usage(conversation.id)
    return toConversationResource(conversation, messages, shown, usage)
  })

  app.delete('/conversations/:id', { schema: remove, config }, async (request, reply) => {
    const { id } = await findConversation(chats, request, request.params.id)
    await running.cancel(id)
    await chats.remove(id)
    await workspace?.removeFolder(id)
    return reply.code(204).send(null)
  })

  app.post('/conversations/:id/cancel', { schema: cancel, config }, async (request) => {
    const { id } = await findConversation(chats, request, request.params.id)
    return { cancelled: await running.cancel(id) }
  })
}
