import { lookup } from 'node:dns/promises'
import { Agent, fetch as fetchOnce } from 'undici'
import { readAllowHosts } from './allow-hosts.ts'
import { guardedConnect, type Resolve } from './guarded-connect.ts'
import { NetFault, toNetFault } from './net-fault.ts'
import { locationOf, redirected, type Sent } from './redirect.ts'
import { urlFault } from './url-fault.ts'

const MAX_REDIRECTS = 5

export interface GuardedFetch {
  /**
   * A `fetch` that reaches the public internet and the hosts that are allowed, and nothing else,
   * also by redirects: at most five are followed, another origin gets neither credentials nor
   * body. It bounds neither time nor size, and knows no proxy. Rejects with a NetFault, or with
   * the reason of the signal.
   */
  fetch: typeof globalThis.fetch
  /** What forbids requests to a URL by what is written in it: a sentence, or undefined. */
  checkUrl(url: string): string | undefined
  close(): Promise<void>
}

interface Options {
  /** As TOOLS_ALLOW_HOSTS: hosts that may be reached wherever they are. */
  allowHosts?: string
  resolve?: Resolve
}

/** Throws one line when `allowHosts` cannot be read. */
export function openGuardedFetch({
  allowHosts = '',
  resolve = resolveAll,
}: Options = {}): GuardedFetch {
  const allows = readAllowHosts(allowHosts)
  const dispatcher = new Agent({ connect: guardedConnect(allows, resolve), bodyTimeout: 0 })

  return {
    async fetch(input, init) {
      const written = input instanceof Request ? input.url : String(input)
      refuse(urlFault(written, allows))
      const request = new Request(input, init)
      const { signal, redirect } = request
      let sent: Sent = {
        url: new URL(request.url),
        method: request.method,
        headers: request.headers,
        body: request.body && (await request.arrayBuffer()),
      }
      for (let redirects = 0; ; redirects++) {
        const response = await send(sent, signal)
        const location = locationOf(response)
        if (location === null || redirect === 'manual') return response
        await response.body?.cancel()
        if (redirect === 'error') throw new NetFault('The host redirects, which is not allowed.')
        if (redirects === MAX_REDIRECTS) throw new NetFault('The host redirects too often.')
        sent = redirected(sent, response.status, location)
        refuse(urlFault(sent.url.href, allows))
      }
    },
    checkUrl: (url) => urlFault(url, allows),
    close: () => dispatcher.destroy(),
  }

  async function send({ url, ...init }: Sent, signal: AbortSignal): Promise<Response> {
    try {
      const { status, statusText, headers, body } = await fetchOnce(url, {
        ...init,
        headers: [...init.headers],
        signal,
        redirect: 'manual',
        dispatcher,
      })
      return new Response(body, { status, statusText, headers: [...headers] })
    } catch (error) {
      signal.throwIfAborted()
      throw toNetFault(error)
    }
  }
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new NetFault(fault)
}

const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true })
