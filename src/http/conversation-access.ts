import type { FastifyRequest } from 'fastify'
import type { Chats } from '../agent/chats.ts'
import { AppError } from '../errors.ts'

/** Whose conversations exist for a request: undefined means everybody's. */
export const ownerOf = ({ key }: FastifyRequest): string | undefined =>
  key === null || key.scopes.includes('admin') ? undefined : key.id

/** To others than its owner and admins, a conversation does not exist. */
export async function findConversation(chats: Chats, request: FastifyRequest, id: string) {
  const conversation = await chats.find(id, ownerOf(request))
  if (conversation) return conversation
  throw new AppError('conversation_not_found', `There is no conversation "${id.slice(0, 64)}".`)
}
