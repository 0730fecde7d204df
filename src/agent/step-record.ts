import type { StepRecord } from '../store/chats.ts'
import { tokensOf } from './budget.ts'
import type { ModelAnswered } from './loop.ts'
import type { Message, ToolResult } from './model.ts'

/** What is stored of a model call: exactly what was sent, what came back, and the calls to answer. */
export function toStepRecord(answered: ModelAnswered): StepRecord<Message, ToolResult> {
  const { step, plan, message, calls } = answered
  return {
    step: {
      step,
      revision: plan.offer.revision,
      system: plan.request.system,
      tools: JSON.stringify(plan.request.tools.map(toDefinition)),
      offered: JSON.stringify(plan.catalog.offered),
      tokens: plan.tokens,
    },
    message,
    calls: calls.map(({ call, verdict }) => ({
      callId: call.toolCallId,
      name: call.toolName,
      kind: verdict.kind === 'refused' ? 'tool' : verdict.kind,
      result: null,
    })),
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
