/** Reached by streamable HTTP. Values of headers may hold references such as `{{env.NAME}}`. */
export interface HttpEndpoint {
  url: string
  headers: Record<string, string>
}

/** Run as a process of its own, spoken to over its input and output. `env` may hold references. */
export interface CommandEndpoint {
  command: string
  args: string[]
  env: Record<string, string>
}

export type Endpoint = HttpEndpoint | CommandEndpoint

/** An MCP server as it is set up. */
export interface McpServer {
  endpoint: Endpoint
  /** Whether each call of its tools has to be approved. */
  approval: boolean
  /** The hash of the tool list that may be used; null until it was read for the first time. */
  accepted: string | null
}

/** Whether it is the same server, whatever headers or variables it is given. */
export function isSameServer(one: Endpoint, other: Endpoint): boolean {
  if ('url' in one) return 'url' in other && one.url === other.url
  if ('url' in other) return false
  return JSON.stringify([one.command, one.args]) === JSON.stringify([other.command, other.args])
}
