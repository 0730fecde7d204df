import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ObservedToolCall, Observer } from '../agent/observer.ts'
import { boundedNames } from './bounded-names.ts'

/** From where on an output is large, in characters (prior-art HK-04). */
const LARGE = 100_000
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** What turns do, in numbers. */
export function createMeters() {
  const register = new Registry()
  const registers = [register]
  const counter = <Name extends string>(name: string, help: string, labelNames: Name[] = []) =>
    new Counter({ name: `loadskill_${name}`, help, labelNames, registers })
  const seconds = (name: string, help: string) =>
    new Histogram({ name: `loadskill_${name}`, help, buckets: SECONDS, registers })

  const running = new Gauge({
    name: 'loadskill_turns_running',
    help: 'Turns that run now',
    registers,
  })
  const turns = counter(
    'turns_total',
    'Turns that ended or wait for the caller, by agent, status and stop_reason',
    ['agent', 'status', 'stop_reason'],
  )
  const steps = counter('steps_total', 'Steps of turns')
  const modelCalls = counter(
    'model_calls_total',
    'Calls of models, by model, purpose (step, summary) and outcome (ok, or why it failed)',
    ['model', 'purpose', 'outcome'],
  )
  const tokens = counter(
    'model_tokens_total',
    'Tokens as providers count them, by model and type (input, output, cache_read, cache_write); input includes both of the cache',
    ['model', 'type'],
  )
  const firstText = seconds(
    'model_first_text_seconds',
    'From the call of a model to the first text of its answer',
  )
  const wholeAnswer = seconds(
    'model_call_seconds',
    'From the call of a model to the end of its answer',
  )
  const toolCalls = counter(
    'tool_calls_total',
    'Calls of tools, by tool and outcome (ok, error, refused, failed, client, approval)',
    ['tool', 'outcome'],
  )
  const largeOutputs = counter(
    'large_outputs_total',
    `Outputs of tools of more than ${LARGE} characters, by tool`,
    ['tool'],
  )
  const uses = counter(
    'skill_uses_total',
    'Uses of skills in turns, by skill and kind (load, repeat, denied, read)',
    ['skill', 'kind'],
  )
  const compactions = counter('compactions_total', 'Compactions of conversations')

  const agentNames = boundedNames()
  const modelNames = boundedNames()
  const toolNames = boundedNames()
  const skillNames = boundedNames()
  const toolOf = ({ tool }: Pick<ObservedToolCall, 'tool'>) =>
    tool === null ? 'other' : toolNames(tool)

  const observer: Observer = {
    turnBegan({ agent, model: named }) {
      running.inc()
      const model = modelNames(named)
      return {
        modelAsked({ purpose }) {
          const begun = performance.now()
          const elapsed = () => (performance.now() - begun) / 1000
          return {
            spoke: () => firstText.observe(elapsed()),
            replied({ usage }) {
              wholeAnswer.observe(elapsed())
              modelCalls.inc({ model, purpose, outcome: 'ok' })
              if (purpose === 'step') steps.inc()
              tokens.inc({ model, type: 'input' }, usage.inputTokens)
              tokens.inc({ model, type: 'output' }, usage.outputTokens)
              tokens.inc({ model, type: 'cache_read' }, usage.cacheReadTokens)
              tokens.inc({ model, type: 'cache_write' }, usage.cacheWriteTokens)
            },
            failed: (outcome) => modelCalls.inc({ model, purpose, outcome }),
          }
        },
        toolCalled(call) {
          const tool = toolOf(call)
          return {
            ended(outcome, { length: characters }) {
              toolCalls.inc({ tool, outcome })
              if (characters > LARGE) largeOutputs.inc({ tool })
            },
          }
        },
        callWaits: (call, outcome) => toolCalls.inc({ tool: toolOf(call), outcome }),
        skillUsed: ({ skill, kind }) => uses.inc({ skill: skillNames(skill), kind }),
        compacted: () => compactions.inc(),
        ended({ status, stopReason }) {
          running.dec()
          turns.inc({ agent: agentNames(agent), status, stop_reason: stopReason ?? 'none' })
        },
      }
    },
  }
  return { register, observer }
}
