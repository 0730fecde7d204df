import { type Static, Type } from 'typebox'
import { loadsIn } from '../agent/loads.ts'
import type { Message } from '../agent/model.ts'
import type { Settings } from '../agent/settings.ts'
import type { Conversation, StoredMessage, Usage } from '../store/chats.ts'
import { MessageResource, toMessageResource } from './message-resource.ts'
import { toUsage, UsageResource } from './turn-resource.ts'

const Time = Type.String({ format: 'date-time' })

export const ConversationSummary = Type.Object({
  id: Type.String(),
  agent: Type.String(),
  created_at: Time,
  updated_at: Time,
})

export const ConversationResource = Type.Object({
  ...ConversationSummary.properties,
  messages: Type.Array(Type.Object({ ...MessageResource.properties, turn_id: Type.String() })),
  loaded_skills: Type.Array(
    Type.Object({ name: Type.String(), version: Type.Integer(), digest: Type.String() }),
    { description: 'Whose bodies are in the context' },
  ),
  usage: UsageResource,
})

export const toConversationSummary = (
  conversation: Conversation<Settings>,
): Static<typeof ConversationSummary> => ({
  id: conversation.id,
  agent: conversation.agent,
  created_at: conversation.createdAt,
  updated_at: conversation.updatedAt,
})

/** `shown` are the messages as the model is shown them. */
export const toConversationResource = (
  conversation: Conversation<Settings>,
  messages: StoredMessage<Message>[],
  shown: readonly Message[],
  usage: Usage,
): Static<typeof ConversationResource> => ({
  ...toConversationSummary(conversation),
  messages: messages.map(({ turnId, message }) => ({
    ...toMessageResource(message),
    turn_id: turnId,
  })),
  loaded_skills: [...loadsIn(shown).values()].map(({ name, version, digest }) => ({
    name,
    version,
    digest,
  })),
  usage: toUsage(usage),
})
