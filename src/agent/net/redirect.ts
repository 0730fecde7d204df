import { NetFault } from './net-fault.ts'

/** A request whose body is bytes, so that it can be sent more than once. */
export interface Sent {
  url: URL
  method: string
  headers: Headers
  body: ArrayBuffer | null
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** What another origin may know; anything else may be a credential. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'range', 'user-agent'])

/** Where a response sends on to; null when it is no redirect. */
export const locationOf = ({ status, headers }: Response): string | null =>
  REDIRECTS.has(status) ? headers.get('location') : null

/** The request that a redirect makes of another (Fetch standard, 4.4). Throws a NetFault. */
export function redirected(sent: Sent, status: number, location: string): Sent {
  const url = URL.parse(location, sent.url.href)
  if (!url) throw new NetFault('The host redirects to a URL that cannot be read.')
  const elsewhere = url.origin !== sent.url.origin
  const headers = new Headers(sent.headers)
  if (elsewhere)
    for (const name of sent.headers.keys()) if (!HARMLESS.has(name)) headers.delete(name)
  if (becomesGet(status, sent.method)) {
    for (const name of [...headers.keys()]) if (name.startsWith('content-')) headers.delete(name)
    return { url, method: 'GET', headers, body: null }
  }
  if (elsewhere && sent.body !== null) {
    throw new NetFault('The host redirects to another one, to which the body is not sent.')
  }
  return { ...sent, url, headers }
}

const becomesGet = (status: number, method: string): boolean =>
  status === 303
    ? method !== 'GET' && method !== 'HEAD'
    : (status === 301 || status === 302) && method === 'POST'
