const MAX_REASON_CHARACTERS = 2000
const MAX_MESSAGE_CHARACTERS = 32 * 1024

export interface CallDecision {
  decision: 'refuse' | 'ask'
  /** What the model, or whoever approves, is told. */
  reason: string
}

export interface StopMessage {
  message: string
}

/** `{decision: "refuse" | "ask", reason?}`; undefined where the hook has nothing to say. */
export function readCallDecision(answer: unknown): CallDecision | undefined {
  if (saysNothing(answer)) return undefined
  const { decision, reason = '' } = Object(answer)
  if ((decision !== 'refuse' && decision !== 'ask') || typeof reason !== 'string') {
    throw new Error('The answer is no {"decision": "refuse" or "ask", "reason": text}.')
  }
  const what = decision === 'refuse' ? 'refused this call' : 'wants this call to be approved'
  const shown = clean(reason.slice(0, MAX_REASON_CHARACTERS)).trim()
  return { decision, reason: shown === '' ? `A hook ${what}.` : shown }
}

/** `{message}`; undefined where the hook has nothing to say. */
export function readStopMessage(answer: unknown): StopMessage | undefined {
  if (saysNothing(answer)) return undefined
  const { message } = Object(answer)
  if (typeof message !== 'string' || message.trim() === '') {
    throw new Error('The answer is no {"message": text}.')
  }
  if (message.length > MAX_MESSAGE_CHARACTERS) {
    const sizes = `${message.length} characters, of ${MAX_MESSAGE_CHARACTERS} allowed`
    throw new Error(`The message has ${sizes}.`)
  }
  return { message: clean(message) }
}

const saysNothing = (answer: unknown): boolean =>
  answer === undefined ||
  answer === null ||
  (typeof answer === 'object' && !Array.isArray(answer) && Object.keys(answer).length === 0)

/** As every store takes it. */
const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '\u{fffd}')
