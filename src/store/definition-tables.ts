/** What every table of named definitions looks like. */
export interface DefinitionTable {
  name: string
  definition: string
  revision: number
  created_at: string
  updated_at: string
}

export interface DefinitionTables {
  agents: DefinitionTable
  tools: DefinitionTable
  mcp_servers: DefinitionTable
  definition_revisions: { id: number; revision: number }
}
