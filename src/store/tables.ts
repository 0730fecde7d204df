import type { Generated } from 'kysely'
import type { ChatTables } from './chat-tables.ts'
import type { DefinitionTables } from './definition-tables.ts'
import type { Source } from './skills.ts'

type Flag = 0 | 1

export interface SkillTable {
  seq: Generated<number>
  name: string
  enabled: Flag
  current_version: number | null
  latest_version: number
  display_name: string | null
  shown: number | null
  source: Source['type']
  folder: string | null
  withdrawn: Flag
  revision: number
  created_at: string
  updated_at: string
}

/** A skill without a version. */
export interface ShellTable {
  seq: number
  name: string
  display_name: string | null
  enabled: Flag
  latest_version: number
  created_at: string
  updated_at: string
}

export interface VersionTable {
  seq: Generated<number>
  skill: number
  version: number
  epoch: number
  digest: string
  title: string | null
  description: string
  declared_version: string | null
  tags: string
  allowed_tools: string | null
  license: string | null
  compatibility: string | null
  metadata: string
  extra: string
  hidden: Flag
  body: string
  size: number
  catalog_tokens: number
  body_tokens: number
  warnings: string
  note: string | null
  written_by: string | null
  written_at: string
}

interface KeyTable {
  seq: Generated<number>
  hash: string
  prefix: string
  name: string
  scopes: string
  tags: string | null
  agents: string | null
  expires_at: string | null
  budget: number | null
  created_at: string
  revoked_at: string | null
}

interface IdempotencyTable {
  owner: string
  key: string
  fingerprint: string
  status: number
  headers: string
  body: string | null
  turn: number | null
  created_at: string
}

/** The columns, in both databases; JSON is text, and a flag a number, since SQLite has neither. */
export interface Tables extends ChatTables, DefinitionTables {
  migrations: { name: string }
  registry: { id: number; revision: number; epoch: number }
  probe: { id: number; writes: number }
  skills: SkillTable
  skill_versions: VersionTable
  skill_shells: ShellTable
  blobs: { sha256: string; bytes: Uint8Array }
  embeddings: { model: string; sha256: string; vector: Uint8Array }
  skill_files: { version: number; path: string; sha256: string; size: number; media_type: string }
  skill_tags: { version: number; tag: string }
  skill_tools: { version: number; tool: string }
  api_keys: KeyTable
  idempotency: IdempotencyTable
}
