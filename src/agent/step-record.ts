import type { StepRecord } from '../store/chats.ts'
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
    },
    message,
    calls: calls.map(({ call, verdict }) => ({
      callId: call.toolCallId,
      name: call.toolName,
      kind: verdict.kind === 'client' ? 'client' : 'tool',
      result: null,
    })),
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
