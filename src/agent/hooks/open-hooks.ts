import type { Logger } from 'pino'
import {
  type CallDecision,
  readCallDecision,
  readStopMessage,
  type StopMessage,
} from './answers.ts'
import { largeOutput } from './built-in/large-output.ts'
import { logCalls } from './built-in/log-calls.ts'
import type { Hook, HookEvents, HookModule, HookName } from './hook.ts'
import { fromModule, loadModule } from './modules.ts'
import {
  type PromptSubmitted,
  type ToolCalled,
  type ToolFinished,
  type TurnStopping,
  toCallEvent,
  toPromptEvent,
  toResultEvent,
  toStopEvent,
} from './turn-events.ts'
import { openWebhook } from './webhooks.ts'
import { withinLimit } from './within-limit.ts'

const LIMIT_MS = 5000

/**
 * What others may say to a turn while it runs (api.md 4, rule 10). All of them are waited for, so
 * that hooks see what happens in its order. None of them ever rejects.
 */
export interface Hooks {
  userPromptSubmit(submitted: PromptSubmitted): Promise<void>
  /** Undefined lets the call go on. A hook that fails refuses it. */
  preToolUse(called: ToolCalled): Promise<CallDecision | undefined>
  postToolUse(finished: ToolFinished): Promise<void>
  /** A message with which the loop goes on; undefined lets the turn end. */
  stop(stopping: TurnStopping): Promise<StopMessage | undefined>
}

interface Options {
  /** Absolute paths. */
  modules: readonly string[]
  urls: readonly string[]
  /** What webhooks are signed with; without it there can be none. */
  secret: string | undefined
  fetch: typeof globalThis.fetch
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Those that run before all others. */
  builtIn?: readonly HookModule[]
  /** For each hook. */
  limitMs?: number
}

/**
 * Opens the hooks: the built-in ones, then modules, then webhooks, each in the order given. The
 * first that answers is the last that is asked. Throws one line when one of them cannot be used.
 */
export async function openHooks(options: Options): Promise<Hooks> {
  const { modules, urls, secret, fetch, log, limitMs = LIMIT_MS } = options
  const builtIn = options.builtIn ?? [logCalls(log), largeOutput(log)]
  const hooks: Hook[] = builtIn.map((module) => fromModule('built-in', module))
  for (const path of modules) hooks.push(await loadModule(path, limitMs))
  if (urls.length > 0 && !secret) throw new Error('HOOK_SECRET must be set where HOOK_URLS is')
  for (const url of urls) hooks.push(openWebhook(url, { secret: secret ?? '', fetch }))

  async function ask<Answer>(
    event: HookEvents[HookName],
    read: (answer: unknown) => Answer | undefined,
    whenFailed?: Answer,
  ): Promise<Answer | undefined> {
    const name = event.event
    const json = JSON.stringify(event)
    for (const hook of hooks) {
      if (!hook.hears(name)) continue
      try {
        const answer = read(await withinLimit(limitMs, (signal) => hook.call(name, json, signal)))
        if (answer !== undefined) return answer
      } catch (error) {
        const { conversation_id, turn_id } = event
        log.error(
          { hook: hook.label, event: name, conversation_id, turn_id, err: error },
          'hook failed',
        )
        if (whenFailed !== undefined) return whenFailed
      }
    }
    return undefined
  }

  return {
    async userPromptSubmit(submitted) {
      await ask(toPromptEvent(submitted), ignore)
    },
    preToolUse: (called) => ask(toCallEvent(called), readCallDecision, REFUSED),
    async postToolUse(finished) {
      await ask(toResultEvent(finished), ignore)
    },
    stop: (stopping) => ask(toStopEvent(stopping), readStopMessage),
  }
}

const ignore = (): undefined => undefined

const REFUSED: CallDecision = {
  decision: 'refuse',
  reason: 'The call was refused, for a hook that has to be asked first failed.',
}
