import type { StepRecord } from '../store/chats.ts'
import { tokensOf } from './budget.ts'
import type { CallsAnswered, ModelAnswered } from './loop.ts'
import type { Message, ToolResult } from './model.ts'

/** Whether nothing happens between a model call and the answers to its calls that could be lost. */
export const isImmediate = ({ calls }: ModelAnswered): boolean =>
  calls.every(
    ({ verdict }) =>
      verdict.kind === 'refused' || (verdict.kind === 'tool' && verdict.tool.immediate),
  )

/** What is stored of a model call: exactly what was sent, what came back, and what came of that. */
export function toStepRecord(
  answered: ModelAnswered,
  {
    message: followed,
    outcomes,
    uses,
  }: Partial<Pick<CallsAnswered, 'message' | 'outcomes' | 'uses'>> = {},
): StepRecord<Message, ToolResult> {
  const { step, plan, message, calls } = answered
  const outcomeOf = new Map(outcomes?.map((outcome) => [outcome.callId, outcome]))
  return {
    step: {
      step,
      revision: plan.offer.revision,
      system: plan.request.system,
      tools: JSON.stringify(plan.request.tools.map(toDefinition)),
      offered: JSON.stringify(plan.catalog.offered),
      tokens: plan.tokens,
    },
    messages: followed ? [message, followed] : [message],
    calls: calls.map(({ call: { toolCallId: callId, toolName: name }, verdict }) => ({
      callId,
      name,
      kind: verdict.kind === 'refused' ? 'tool' : verdict.kind,
      result: null,
      ...outcomeOf.get(callId),
    })),
    uses: uses ?? [],
    tokens: tokensOf(answered.usage),
  }
}

const toDefinition = ({
  name,
  description,
  inputSchema,
}: {
  name: string
  description: string
  inputSchema: object
}) => ({
  name,
  description,
  input_schema: inputSchema,
})
