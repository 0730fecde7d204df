import type { Chats } from './chats.ts'
import { applyCompaction, NO_COMPACTION } from './compaction/compaction.ts'
import type { Message } from './model.ts'

/** A stored conversation as the model is shown it. */
export async function shownMessages(
  chats: Pick<Chats, 'messages' | 'compaction'>,
  conversationId: string,
): Promise<readonly Message[]> {
  const stored = await chats.messages(conversationId)
  const compaction = (await chats.compaction(conversationId)) ?? NO_COMPACTION
  return applyCompaction(
    stored.map(({ message }) => message),
    compaction,
  )
}
