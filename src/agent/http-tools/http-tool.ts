export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A tool that is one HTTP request, with `{{input.x}}` and `{{env.NAME}}` in its values. */
export interface HttpTool {
  description: string
  inputSchema: object
  request: HttpRequest
  /** For the whole answer: connection, headers and body. */
  timeoutMs: number
  /** Whether each call has to be approved. */
  approval: boolean
  /** Whether a second request does no harm. */
  idempotent: boolean
}

export interface HttpRequest {
  method: (typeof METHODS)[number]
  url: string
  headers: Record<string, string>
  /** Text, or JSON to be sent as such; null for none. */
  body: unknown
}
