import { toNetFault } from './net-fault.ts'

/**
 * The body of a response, inflated, as far as `most` bytes go; `cut` when there is more, which is
 * left unread. Rejects with a NetFault, or with the reason of the signal that the request had.
 */
export async function readBytes(response: Response, most: number, signal: AbortSignal) {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      const kept = chunk.subarray(0, most - size)
      chunks.push(kept)
      size += kept.length
      if (kept.length < chunk.length) return { bytes: Buffer.concat(chunks), cut: true }
    }
  } catch (error) {
    signal.throwIfAborted()
    throw toNetFault(error)
  }
  return { bytes: Buffer.concat(chunks), cut: false }
}
