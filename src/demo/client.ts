import type { Problem } from '../http/problem.ts'

interface Sent {
  type: string
  body: string
}

export type Call = <Body>(path: string, status: number, sent?: Sent) => Promise<Body>

/** Calls the service, and throws a sentence when the answer has another status than expected. */
export function connect(url: string, signal: AbortSignal): Call {
  return async <Body>(path: string, status: number, sent?: Sent) => {
    const request = sent && {
      method: 'POST',
      headers: { 'content-type': sent.type },
      body: sent.body,
    }
    const response = await fetch(`${url}${path}`, { ...request, signal }).catch(() => {
      signal.throwIfAborted()
      throw new Error(`${path} got no answer: the service has ended.`)
    })
    const body = await response.json()
    if (response.status === status) return body as Body
    const { detail, title } = body as Problem
    throw new Error(`${path} answered ${response.status}: ${detail ?? title}`)
  }
}

export const markdown = (body: string): Sent => ({ type: 'text/markdown', body })

export const json = (value: object): Sent => ({
  type: 'application/json',
  body: JSON.stringify(value),
})
