import type { Logger } from 'pino'
import type { HookModule } from '../hook.ts'

const LARGE_CHARACTERS = 100_000

/** A warning in the log for an output that is large; it is stored whole all the same. */
export const largeOutput = (log: Pick<Logger, 'warn'>): HookModule => ({
  PostToolUse({ conversation_id, turn_id, call_id, tool, output_characters }) {
    if (output_characters <= LARGE_CHARACTERS) return
    log.warn({ conversation_id, turn_id, call_id, tool, output_characters }, 'tool output is large')
  },
})
