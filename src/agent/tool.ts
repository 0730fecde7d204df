/** What the model is told of a tool; `inputSchema` is a JSON Schema of an object. */
export interface ToolDefinition {
  name: string
  description: string
  inputSchema: object
}
