import { type Static, Type } from 'typebox'
import type { Message } from '../agent/model.ts'
import type { TurnRequest } from '../agent/open-turn.ts'
import { ALLOWED_TOOLS_MODES, type Settings } from '../agent/settings.ts'
import { AppError } from '../errors.ts'
import { Strict } from '../schema.ts'
import { TextPart } from './message-resource.ts'

const Optional = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
/** Providers refuse blank text. */
const Said = Type.String({ pattern: '\\S' })
const Names = Type.Array(Type.String(), { maxItems: 1000 })

export type ChatBody = Static<typeof ChatBody>
export const ChatBody = Strict({
  message: Optional(Said),
  messages: Optional(
    Type.Array(
      Strict({
        role: Type.Enum(['user', 'assistant']),
        content: Type.Union([
          Said,
          Type.Array(Strict({ ...TextPart.properties, text: Said }), { minItems: 1 }),
        ]),
      }),
      { minItems: 1, description: 'Instead of message; the last one of the user' },
    ),
  ),
  tool_results: Optional(
    Type.Array(
      Strict({
        call_id: Type.String(),
        output: Type.String(),
        is_error: Type.Optional(Type.Boolean({ default: false })),
      }),
      { minItems: 1, description: 'For the calls of your own tools that wait' },
    ),
  ),
  approvals: Optional(
    Type.Array(
      Strict({
        call_id: Type.String(),
        decision: Type.Enum(['approve', 'deny']),
        reason: Optional(Type.String({ description: 'For the model, of a denial' })),
      }),
      { minItems: 1, description: 'For the calls that wait for one' },
    ),
  ),
  conversation_id: Optional(
    Type.String({
      description: 'Alone, it lets a turn go on that was interrupted, or failed',
    }),
  ),
  agent: Optional(
    Type.String({ description: "By its name; the conversation's own, or else `default`" }),
  ),
  model: Optional(Type.String({ description: 'anthropic/ID, openai/ID or offline' })),
  instructions: Optional(Type.String({ description: "Instead of the agent's own" })),
  skills: Optional(
    Strict({
      names: Optional(Names),
      tags: Optional(Names),
      preload: Type.Optional(
        Type.Array(Type.String(), { maxItems: 16, description: 'Loaded before the message' }),
      ),
    }),
  ),
  tools: Optional(
    Type.Array(
      Strict({
        name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' }),
        description: Type.Optional(Type.String()),
        input_schema: Type.Object({}, { description: 'A JSON Schema of an object' }),
      }),
      { maxItems: 128, description: "The caller's tools: their calls are handed to the caller" },
    ),
  ),
  max_steps: Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: "Instead of the agent's own" }),
  ),
  max_output_tokens: Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  temperature: Optional(Type.Number({ minimum: 0, maximum: 2 })),
  allowed_tools_mode: Optional(Type.Enum([...ALLOWED_TOOLS_MODES])),
  stream: Type.Optional(Type.Boolean({ default: false })),
})

type Asked = Omit<TurnRequest, 'owner' | 'seesAll' | 'dayBudget' | 'recording'>

/** What a body asks for, in our words. Throws `body_invalid` when it says too much or too little. */
export function readChatBody(body: ChatBody): Asked {
  const results = body.tool_results ?? []
  const approvals = body.approvals ?? []
  const answers = results.length + approvals.length > 0
  const said = [body.message, body.messages].filter((part) => part != null).length
  if (said > 1 || (said > 0 && answers)) {
    const what = 'Send one of "message" and "messages", or answers to the calls that wait.'
    throw new AppError('body_invalid', what)
  }
  if (said === 0 && body.conversation_id == null) {
    const what = answers
      ? 'Answers need the "conversation_id" they belong to.'
      : 'Send a "message", or "messages".'
    throw new AppError('body_invalid', what)
  }
  return {
    conversationId: body.conversation_id ?? null,
    agent: body.agent ?? null,
    settings: readSettings(body),
    messages: readMessages(body),
    preload: body.skills?.preload ?? [],
    results: results.map(({ call_id, output, is_error = false }) => ({
      callId: call_id,
      output,
      isError: is_error,
    })),
    approvals: approvals.map(({ call_id, decision, reason = null }) => ({
      callId: call_id,
      decision,
      reason,
    })),
  }
}

function readSettings(body: ChatBody): Partial<Settings> {
  const settings: Partial<Settings> = {}
  if (body.model != null) settings.model = body.model
  if (body.instructions != null) settings.instructions = body.instructions
  const { names, tags } = body.skills ?? {}
  // A preload alone says nothing of what is on offer.
  if (names !== undefined || tags !== undefined) {
    settings.skills = { names: names ?? null, tags: tags ?? null }
  }
  if (body.tools != null) {
    settings.tools = body.tools.map(({ name, description = '', input_schema: inputSchema }) => ({
      name,
      description,
      inputSchema,
    }))
  }
  if (body.max_steps != null) settings.maxSteps = body.max_steps
  if (body.max_output_tokens != null) settings.maxOutputTokens = body.max_output_tokens
  if (body.temperature != null) settings.temperature = body.temperature
  if (body.allowed_tools_mode != null) settings.allowedToolsMode = body.allowed_tools_mode
  return settings
}

function readMessages({ message, messages }: ChatBody): Message[] {
  const said = messages ?? (message == null ? [] : [{ role: 'user' as const, content: message }])
  if (said.length > 0 && said.at(-1)?.role !== 'user') {
    throw new AppError('body_invalid', 'The last of "messages" must be of the role "user".')
  }
  if (said[0]?.role === 'assistant') {
    throw new AppError('body_invalid', 'The first of "messages" must be of the role "user".')
  }
  return said.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }))
}
