import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ModelCallObserver, ObservedModelCall, Observer } from '../agent/observer.ts'

/**
 * Turns, their model calls and their tool calls as spans, by the semantic conventions for
 * generative AI (1.41). What was said, called with or answered stands in none of them.
 */
export const traceTurns = (tracer: Tracer): Observer => ({
  turnBegan({ agent, conversationId, turnId, model: named }) {
    const { provider, model } = readModel(named)
    const shared = { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model }
    const conversation = { 'gen_ai.conversation.id': conversationId }
    const turn = tracer.startSpan(`invoke_agent ${agent}`, {
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        ...shared,
        ...conversation,
        'loadskill.turn.id': turnId,
      },
    })
    const within = trace.setSpan(context.active(), turn)

    return {
      modelAsked: (call) =>
        traceModelCall(tracer, { ...call, model, shared: { ...shared, ...conversation }, within }),

      toolCalled({ callId, tool }) {
        const name = tool ?? 'unknown'
        const span = tracer.startSpan(
          `execute_tool ${name}`,
          {
            kind: SpanKind.INTERNAL,
            attributes: {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': name,
              'gen_ai.tool.type': 'function',
              'gen_ai.tool.call.id': callId,
              ...conversation,
            },
          },
          within,
        )
        return {
          ended(outcome) {
            if (outcome !== 'ok') fail(span, outcome)
            span.end()
          },
        }
      },

      callWaits: ({ tool }, kind) =>
        turn.addEvent('loadskill.call.waits', {
          'gen_ai.tool.name': tool ?? 'unknown',
          'loadskill.waits_for': kind,
        }),

      skillUsed: ({ skill, version, kind, tokens }) =>
        turn.addEvent(`loadskill.skill.${kind}`, {
          'loadskill.skill': skill,
          ...(version !== null && { 'loadskill.version': version }),
          'loadskill.tokens': tokens,
        }),

      compacted: () => turn.addEvent('loadskill.context.compacted'),

      ended({ status, stopReason, steps, usage, error }) {
        turn.setAttributes({
          'loadskill.turn.status': status,
          'loadskill.turn.steps': steps,
          ...(stopReason && { 'loadskill.turn.stop_reason': stopReason }),
          ...usageOf(usage),
        })
        if (status === 'failed') fail(turn, error?.code ?? 'internal')
        turn.end()
      },
    }
  },
})

interface TracedCall extends ObservedModelCall {
  model: string
  shared: Attributes
  within: Context
}

function traceModelCall(
  tracer: Tracer,
  { model, purpose, request: { maxOutputTokens, temperature }, shared, within }: TracedCall,
): ModelCallObserver {
  const span = tracer.startSpan(
    `chat ${model}`,
    {
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...shared,
        'gen_ai.request.max_tokens': maxOutputTokens,
        ...(temperature !== null && { 'gen_ai.request.temperature': temperature }),
        'loadskill.purpose': purpose,
      },
    },
    within,
  )
  return {
    spoke: () => span.addEvent('loadskill.first_text'),
    replied({ usage, cut }) {
      span.setAttributes({
        ...usageOf(usage),
        ...(cut && { 'gen_ai.response.finish_reasons': ['length'] }),
      })
      span.end()
    },
    failed(why) {
      if (why === 'cancelled') span.setAttribute('loadskill.cancelled', true)
      else fail(span, why)
      span.end()
    },
  }
}

interface Tokens {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
}

const usageOf = (usage: Tokens): Attributes => ({
  'gen_ai.usage.input_tokens': usage.inputTokens,
  'gen_ai.usage.output_tokens': usage.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
  'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
})

/** By a code, never by the words of an error: those may quote what was said. */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function readModel(name: string): { provider: string; model: string } {
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(name) ?? []
  return provider && model ? { provider, model } : { provider: 'loadskill', model: name }
}
