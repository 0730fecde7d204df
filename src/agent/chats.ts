import type { ChatStore } from '../store/chats.ts'
import type { Compaction } from './compaction/compaction.ts'
import type { Message, ToolResult } from './model.ts'
import type { Settings } from './settings.ts'

export type Chats = ChatStore<Message, ToolResult, Settings, Compaction>
