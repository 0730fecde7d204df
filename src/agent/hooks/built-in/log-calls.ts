import type { Logger } from 'pino'
import { findSecret } from '../../../domain/lints/secret.ts'
import type { HookModule } from '../hook.ts'

const SHOWN_ARGUMENTS = 2
const SHOWN_CHARACTERS = 60
/** How far a value is searched for a secret. */
const SEARCHED_CHARACTERS = 10_000
const MASK = '***'

const SECRET_NAME =
  /password|passphrase|passwd|secret|token(?!s)|api[_-]?key|authorization|credential|cookie|(?:private|access)[_-]?key|(?:^|[_-])(?:pass|pwd|auth)(?:$|[_-])/i

/** A line in the log for each call: the tool and its first two arguments, without secrets. */
export const logCalls = (log: Pick<Logger, 'info'>): HookModule => ({
  PreToolUse({ conversation_id, turn_id, call_id, step, tool, input }) {
    const shown = Object.entries(Object(input)).slice(0, SHOWN_ARGUMENTS)
    const args = Object.fromEntries(shown.map(([name, value]) => [name, show(name, value)]))
    log.info({ conversation_id, turn_id, call_id, step, tool, args }, 'tool called')
  },
})

function show(name: string, value: unknown): string {
  if (SECRET_NAME.test(name)) return MASK
  const text = typeof value === 'string' ? value : JSON.stringify(value, maskSecrets)
  if (findSecret(text.slice(0, SEARCHED_CHARACTERS))) return MASK
  if (text.length <= SHOWN_CHARACTERS) return text
  return `${text.slice(0, SHOWN_CHARACTERS - 1)}…`.toWellFormed()
}

const maskSecrets = (name: string, value: unknown): unknown =>
  SECRET_NAME.test(name) ? MASK : value
