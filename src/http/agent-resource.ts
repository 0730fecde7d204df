import { type Static, Type } from 'typebox'
import { type Agent, DEFAULT_AGENT } from '../agent/agent.ts'
import { isBuiltIn } from '../agent/agents.ts'
import { ALLOWED_TOOLS_MODES } from '../agent/settings.ts'
import { AppError } from '../errors.ts'
import type { Defined } from '../store/definitions.ts'

const OrNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Names = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000 })
const Globs = (description: string) =>
  Type.Array(Type.String({ pattern: '^[a-zA-Z0-9_*-]{1,128}$' }), { maxItems: 1000, description })
const Tokens = (description: string) =>
  OrNull(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }))

const skills = {
  names: OrNull(Names),
  tags: OrNull(Names),
}
const budget = {
  turn_tokens: Tokens('In and out together, of one turn'),
  conversation_tokens: Tokens('In and out together, of all its turns'),
}
const members = {
  instructions: OrNull(
    Type.String({ maxLength: 200_000, description: 'What the system prompt begins with' }),
  ),
  model: OrNull(Type.String({ maxLength: 256, description: 'anthropic/ID, openai/ID or offline' })),
  tools: Globs("Names or globs of the service's tools that it has: `*` is all of them"),
  max_steps: Type.Integer({ minimum: 1, maximum: 1000, default: DEFAULT_AGENT.maxSteps }),
  allowed_tools_mode: OrNull(Type.Enum([...ALLOWED_TOOLS_MODES])),
  catalog_max_tokens: OrNull(Type.Integer({ minimum: 1, maximum: 200_000 })),
  approval: Globs('Names or globs of its tools whose calls have to be approved'),
}

/** Strict, but nothing has to be there. */
const Some = <Properties extends Type.TProperties>(properties: Properties) =>
  Type.Partial(Type.Object(properties), { additionalProperties: false })

export type AgentBody = Static<typeof AgentBody>
export const AgentBody = {
  ...Some({ ...members, skills: Some(skills), budget: Some(budget) }),
  examples: [{ instructions: 'You review code.', tools: ['read_file', 'glob'], max_steps: 8 }],
}

export const AgentResource = Type.Object({
  name: Type.String(),
  ...members,
  skills: Type.Object(skills, {
    description: 'Which skills it is offered; null does not narrow',
  }),
  budget: Type.Object(budget, { description: 'Null is no limit' }),
  created_at: OrNull(
    Type.String({ format: 'date-time', description: 'Null: the built-in default' }),
  ),
  updated_at: OrNull(Type.String({ format: 'date-time' })),
})

/** The whole agent: what a body leaves out is as in the built-in default. Throws `name_invalid`. */
export function readAgent(name: string, body: AgentBody): Agent {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) {
    const what = 'The name of an agent has 1 to 64 of the characters a to z, 0 to 9 and "-".'
    throw new AppError('name_invalid', what)
  }
  return {
    instructions: body.instructions ?? null,
    model: body.model ?? null,
    skills: { names: body.skills?.names ?? null, tags: body.skills?.tags ?? null },
    tools: body.tools ?? DEFAULT_AGENT.tools,
    maxSteps: body.max_steps ?? DEFAULT_AGENT.maxSteps,
    allowedToolsMode: body.allowed_tools_mode ?? null,
    catalogMaxTokens: body.catalog_max_tokens ?? null,
    approval: body.approval ?? DEFAULT_AGENT.approval,
    budget: {
      turn: body.budget?.turn_tokens ?? null,
      conversation: body.budget?.conversation_tokens ?? null,
    },
  }
}

export function toAgentResource(defined: Defined<Agent>): Static<typeof AgentResource> {
  const { name, definition: agent, createdAt, updatedAt } = defined
  const written = !isBuiltIn(defined)
  return {
    name,
    instructions: agent.instructions,
    model: agent.model,
    skills: agent.skills,
    tools: agent.tools,
    max_steps: agent.maxSteps,
    allowed_tools_mode: agent.allowedToolsMode,
    catalog_max_tokens: agent.catalogMaxTokens,
    approval: agent.approval,
    budget: {
      turn_tokens: agent.budget.turn,
      conversation_tokens: agent.budget.conversation,
    },
    created_at: written ? createdAt : null,
    updated_at: written ? updatedAt : null,
  }
}
