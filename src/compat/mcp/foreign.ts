import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../errors.ts'
import { isLoopback } from '../../http/auth.ts'

/**
 * Refuses what a web page may have sent (contracts.md 8). On a loopback address only loopback names
 * are answered, with any port; on another one any host, and an origin only when it is that host.
 */
export function refuseForeign(headers: IncomingHttpHeaders, onLoopback: boolean): void {
  const { host = '', origin } = headers
  if (onLoopback && !isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) {
    throw new AppError('origin_forbidden', 'Only requests to a loopback name are answered here.')
  }
  if (origin === undefined) return
  const from = URL.parse(origin)
  const allowed = onLoopback
    ? isLoopback(from?.hostname ?? '')
    : from !== null && from.host === URL.parse(`${from.protocol}//${host}`)?.host
  if (!allowed) {
    throw new AppError('origin_forbidden', 'No request from a page of another origin is answered.')
  }
}
