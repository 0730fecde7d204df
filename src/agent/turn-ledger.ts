import type { Denied, Loaded } from '../domain/receipt.ts'
import type { TurnState, Usage } from '../store/chats.ts'
import type { ModelAnswered } from './loop.ts'
import type { ModelUsage } from './model.ts'
import type { StepPlan } from './plan-step.ts'

/** How a turn stands, as it goes on: what every step's record and the receipt are made from. */
export class TurnLedger {
  #state: TurnState

  constructor(state: TurnState) {
    this.#state = { ...state, status: 'running', stopReason: null, error: null }
  }

  get state(): TurnState {
    return this.#state
  }

  /** A model call has ended. */
  stepped({ step, plan, usage }: ModelAnswered): void {
    const { receipt } = this.#state
    const { catalog, tokens } = catalogOf(plan)
    this.#state = {
      ...this.#state,
      steps: step,
      usage: add(this.#state.usage, usage),
      receipt: { ...receipt, catalog, tokens: { ...receipt.tokens, ...tokens } },
    }
  }

  answered(loaded: readonly Loaded[], denied: readonly Denied[] = []): void {
    const { receipt } = this.#state
    const bodies = loaded.filter(({ repeat }) => !repeat)
    const skills = bodies.reduce((sum, { tokens }) => sum + tokens, receipt.tokens.skills)
    this.#state = {
      ...this.#state,
      receipt: {
        ...receipt,
        loaded: [...receipt.loaded, ...loaded],
        denied: [...receipt.denied, ...denied],
        tokens: { ...receipt.tokens, skills },
      },
    }
  }

  /** Model calls were made that are no step. */
  called(usages: readonly ModelUsage[]): void {
    this.#state = { ...this.#state, usage: usages.reduce(add, this.#state.usage) }
  }

  end(end: Pick<TurnState, 'status' | 'stopReason'> & Partial<Pick<TurnState, 'error'>>): void {
    this.#state = { ...this.#state, ...end }
  }
}

function catalogOf({ catalog: { offered, omitted }, offer, tokens }: StepPlan) {
  return {
    catalog: {
      revision: offer.revision,
      tokens: tokens.catalog,
      offered: offered.length,
      shortened: offered.filter(({ shown }) => shown !== 'full').length,
      omitted: omitted.length,
    },
    tokens: { catalog: tokens.catalog, allInlined: tokens.inlined },
  }
}

const add = (total: Usage, usage: ModelUsage): Usage => ({
  modelCalls: total.modelCalls + 1,
  inputTokens: total.inputTokens + usage.inputTokens,
  outputTokens: total.outputTokens + usage.outputTokens,
  cacheReadTokens: total.cacheReadTokens + usage.cacheReadTokens,
  cacheWriteTokens: total.cacheWriteTokens + usage.cacheWriteTokens,
})
