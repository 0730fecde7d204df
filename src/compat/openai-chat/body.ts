import { type Static, Type } from 'typebox'

const Optional = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

const Content = Type.Union([
  Type.String(),
  Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })),
])
const FunctionCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})

export type ChatMessage = Static<typeof ChatMessage>
const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Optional(Content),
  tool_calls: Optional(Type.Array(FunctionCall)),
  tool_call_id: Type.Optional(Type.String()),
})

/** What is read of a request for a completion; all else is ignored (contracts.md 6). */
export type CompletionBody = Static<typeof CompletionBody>
export const CompletionBody = Type.Object({
  model: Type.String(),
  messages: Type.Array(ChatMessage, { minItems: 1 }),
  tools: Optional(
    Type.Array(
      Type.Object({
        type: Type.Literal('function'),
        function: Type.Object({
          name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' }),
          description: Optional(Type.String()),
          parameters: Optional(Type.Object({})),
        }),
      }),
      { maxItems: 128 },
    ),
  ),
  tool_choice: Optional(
    Type.Union([
      Type.Enum(['none', 'auto', 'required']),
      Type.Object({
        type: Type.Literal('function'),
        function: Type.Object({ name: Type.String() }),
      }),
    ]),
  ),
  max_completion_tokens: Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  max_tokens: Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  temperature: Optional(Type.Number({ minimum: 0, maximum: 2 })),
  n: Optional(Type.Integer()),
  stream: Optional(Type.Boolean()),
  stream_options: Optional(Type.Object({ include_usage: Optional(Type.Boolean()) })),
  metadata: Optional(Type.Object({ conversation_id: Optional(Type.String()) })),
})
