import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** Numbers, or their bytes as little-endian floats: which of them is the server's choice. */
const Answer = Type.Object({
  data: Type.Array(Type.Object({ index: Type.Integer(), embedding: Type.Unknown() })),
})

/** What the widest vectors weigh when they are written out as decimal numbers. */
const MAX_BYTES_OF_ONE = 256 * 1024
const TEXT_REFUSED = [400, 413, 422]

export interface Endpoint {
  /** Any OpenAI-compatible server, with its /v1. */
  url: string
  model: string
  key: string | undefined
}

/** Asks for the vectors of texts, in their order. Rejects when they are not there in time. */
export type Embed = (texts: readonly string[], timeoutMs: number) => Promise<Float32Array[]>

/** The server does not take these texts: too many, too long, or not to its liking. */
export class TextsRefused extends Error {}

/**
 * Asks for the vectors of texts, in their order, each of length one, so that a dot product is the
 * cosine. Rejects when there is no answer before the signal, with a message that names no secret.
 */
export async function embed(
  { url, model, key }: Endpoint,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const response = await fetch(`${url.replace(/\/$/, '')}/embeddings`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, input: texts, encoding_format: 'base64' }),
    redirect: 'error',
    signal,
  })
  if (!response.ok) {
    await response.body?.cancel()
    const Failure = TEXT_REFUSED.includes(response.status) ? TextsRefused : Error
    throw new Failure(`it answered ${response.status}`)
  }
  const answer = parse(await readWithin(response, texts.length * MAX_BYTES_OF_ONE))
  if (!Value.Check(Answer, answer) || answer.data.length !== texts.length) throw garbage()
  return answer.data.toSorted((a, b) => a.index - b.index).map((one) => toVector(one.embedding))
}

async function readWithin({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`its answer is over ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message would quote the answer.
    throw new Error('its answer is no JSON')
  }
}

const garbage = () => new Error('its answer has no vector for each text')

function toVector(given: unknown): Float32Array {
  const vector = typeof given === 'string' ? fromBase64(given) : fromNumbers(given)
  let squares = 0
  for (const value of vector) squares += value * value
  if (vector.length === 0 || !Number.isFinite(squares)) throw garbage()
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}

function fromBase64(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  if (bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) throw garbage()
  return new Float32Array(bytes.buffer)
}

function fromNumbers(given: unknown): Float32Array {
  if (!Array.isArray(given)) throw garbage()
  return Float32Array.from(given, (value) => (typeof value === 'number' ? value : Number.NaN))
}
