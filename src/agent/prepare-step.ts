import { estimateTokens } from '../domain/tokens.ts'
import type { Chats } from './chats.ts'
import { compact } from './compaction/compact.ts'
import { applyCompaction, type Compaction, NO_COMPACTION } from './compaction/compaction.ts'
import { loadsIn } from './loads.ts'
import type { Message, Model, ModelUsage } from './model.ts'
import { observeModel, type TurnObserver } from './observer.ts'
import type { OpenTurn } from './opened-turn.ts'
import { type PlanParts, planStep, type StepPlan } from './plan-step.ts'
import { requestText } from './request-text.ts'

/** What a model call is made with. */
export interface Prepared {
  plan: StepPlan
  /** The conversation as the model is shown it. */
  messages: readonly Message[]
}

/** From now on less of the conversation is shown. */
export interface ContextCompacted {
  type: 'context.compacted'
  compaction: Compaction
  /** Of the calls that summaries were made with. */
  calls: ModelUsage[]
}

interface Parts extends PlanParts {
  chats: Pick<Chats, 'compaction'>
}

/** What the model is shown of a conversation, and how that is kept within the limit. */
export async function openContext(
  parts: Parts,
  { conversation: { id }, setup }: OpenTurn,
  { model, observer, signal }: { model: Model; observer: TurnObserver; signal: AbortSignal },
) {
  const summarist = observeModel(model, observer, 'summary')
  let compaction = (await parts.chats.compaction(id)) ?? NO_COMPACTION

  async function show(messages: readonly Message[]): Promise<Prepared> {
    const view = applyCompaction(messages, compaction)
    const planned = {
      setup,
      conversationId: id,
      about: requestText(messages),
      everLoaded: loadsIn(messages),
    }
    return { plan: await planStep(parts, planned, view), messages: view }
  }

  return {
    show,

    /**
     * What the next call is made with; undefined when that cannot be made short enough. `tooLong`
     * says that the provider refused what fits by our count.
     */
    async *prepare(
      messages: readonly Message[],
      tooLong: boolean,
    ): AsyncGenerator<ContextCompacted, Prepared | undefined, void> {
      const shown = await show(messages)
      const made = await compact({
        model: summarist,
        messages,
        compaction,
        overhead: overheadOf(shown.plan),
        limit: setup.contextMaxTokens,
        signal,
        forced: tooLong,
      })
      if (!made.changed) return made.fits ? shown : undefined
      compaction = made.compaction
      observer.compacted()
      yield { type: 'context.compacted', compaction, calls: made.usage }
      return made.fits ? show(messages) : undefined
    },
  }
}

const overheadOf = ({ request: { system, tools } }: StepPlan): number =>
  estimateTokens(system) + estimateTokens(JSON.stringify(tools))
