/** An answer as it was given, to be given again. */
export interface Answer {
  status: number
  headers: Record<string, string>
  /** JSON text; null for an answer without a body. */
  body: string | null
}

export interface IdempotencyKey {
  /** The id of the API key that used it, or a fixed word when there is none. */
  owner: string
  key: string
}

/** Handed to a write, so that the effect and the answer to it are stored in one transaction. */
export interface Recording<Outcome> extends IdempotencyKey {
  /** What was asked, as a hash: the same key with another one is refused. */
  fingerprint: string
  answer(outcome: Outcome): Answer
}

export interface Recorded {
  fingerprint: string
  /** Null while only the turn is known that is the effect. */
  answer: Answer | null
  turn: { id: string; conversationId: string } | null
}

export interface IdempotencyStore {
  find(key: IdempotencyKey): Promise<Recorded | undefined>
  /** For an outcome without an effect, as a refusal. Keeps the first of two. */
  save(key: IdempotencyKey & { fingerprint: string }, answer: Answer): Promise<void>
  /** Keeps how the turn ended that was recorded with its beginning. */
  finish(key: IdempotencyKey, answer: Answer): Promise<void>
  /** Forgets what is older than `before` (ISO 8601). */
  sweep(before: string): Promise<void>
}
