import type { Kysely } from 'kysely'
import { chatReads } from './chat-reads.ts'
import { chatWrites } from './chat-writes.ts'
import type { ChatStore } from './chats.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'

export function createChatStore<Message, Result, Settings, Compaction>(
  db: Kysely<Tables>,
): ChatStore<Message, Result, Settings, Compaction> {
  return tellingFaults<ChatStore<Message, Result, Settings, Compaction>>({
    ...chatReads<Message, Result, Settings, Compaction>(db),
    ...chatWrites<Message, Result, Settings, Compaction>(db),
  })
}
