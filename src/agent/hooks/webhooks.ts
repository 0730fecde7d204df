import { createHmac } from 'node:crypto'
import type { Hook } from './hook.ts'

const MAX_ANSWER_BYTES = 64 * 1024

interface Options {
  secret: string
  fetch: typeof globalThis.fetch
}

/**
 * A hook that is asked by POST. `x-loadskill-signature` is `v1=` and the HMAC-SHA256, in hex, of
 * the timestamp (seconds since 1970), a full stop and the body, under the secret. Addresses are the
 * operator's, and so may be private ones. Throws one line when it is no URL that can be asked.
 */
export function openWebhook(text: string, { secret, fetch }: Options): Hook {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Error('HOOK_URLS must hold http or https URLs without a user or password')
  }
  return {
    label: `${url.origin}${url.pathname}`,
    hears: () => true,
    async call(name, json, signal) {
      const timestamp = String(Math.floor(Date.now() / 1000))
      const signature = createHmac('sha256', secret).update(`${timestamp}.${json}`).digest('hex')
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-loadskill-event': name,
          'x-loadskill-timestamp': timestamp,
          'x-loadskill-signature': `v1=${signature}`,
        },
        body: json,
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`The webhook answered ${response.status}.`)
      }
      const answer = await readText(response)
      return answer.trim() === '' ? undefined : JSON.parse(answer)
    },
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels what is still to come.
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`The answer is above ${MAX_ANSWER_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
