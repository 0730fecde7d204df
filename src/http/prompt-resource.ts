import { type Static, Type } from 'typebox'
import type { Step } from '../store/chats.ts'

export const OfferedSkill = Type.Object({
  name: Type.String(),
  version: Type.Integer(),
  digest: Type.String(),
  shown: Type.Enum(['full', 'short', 'name']),
})

const ToolResource = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: Type.Unknown(),
})

const sent = {
  system: Type.String(),
  tools: Type.Array(ToolResource),
}

export const PromptResource = Type.Object({
  turn_id: Type.String(),
  ...sent,
  steps: Type.Array(Type.Object({ step: Type.Integer(), revision: Type.Integer(), ...sent }), {
    description: 'Each model call; `system` and `tools` above are of the first',
  }),
})

/** The texts are the ones that were stored when they were sent. */
export function toPrompt(turn_id: string, steps: Step[]): Static<typeof PromptResource> {
  const calls = steps.map(({ step, revision, system, tools }) => ({
    step,
    revision,
    system,
    tools: JSON.parse(tools),
  }))
  const [first = { system: '', tools: [] }] = calls
  return { turn_id, system: first.system, tools: first.tools, steps: calls }
}

export const toOffered = (step: Step | undefined): Static<typeof OfferedSkill>[] =>
  step ? JSON.parse(step.offered) : []
